"""TensorFlow graphs that repeat functions of data/, so that exports run them.

heads/ builds the signatures of SavedModels from these graphs. A change to one
of two such modules needs the same change to the other one. The tests of the
graphs compare the two:

    passage_windows_graph.py: cuts questions and passages into windows, as
        data/squad/passage_windows.py
    token_spans_graph.py: finds possible answers, and their texts, as
        data/squad/token_spans.py
    answer_decoding_graph.py: chooses among them, as
        data/squad/answer_decoding.py
    tagging_graph.py: cuts texts into words and windows, and chooses legal tags,
        as ner_examples.py and sentence_windows.py in data/ner/

The graphs that layers of Keras contain too are in data/text/.
"""
