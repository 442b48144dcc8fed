"""Reads SQuAD's questions, cuts them into windows, and finds answers.

    squad_options.py: the options
    squad_sets.py: `SquadSets`, the sets of run_squad.py
    squad_examples.py: questions as examples, with their answers' places
    squad_questions.py: questions from SQuAD's JSON and from tables
    answer_notations.py: answers in the notations of tables and of JSON files
    passage_tokens.py: passages to tokens, which know their characters
    passage_windows.py: passages with their questions to windows, and these to
        records
    token_spans.py: start and end logits to spans of tokens
    answer_decoding.py: spans to answers
    final_text.py: an answer in the passage's own spelling
    answer_scoring.py: the official scores
    answer_report.py: the part of report.html

The same in a TensorFlow graph, for exports. A graph and its Python twin must
change together:

    passage_windows_graph.py: passage_tokens.py and passage_windows.py
    token_spans_graph.py: token_spans.py
    answer_decoding_graph.py: answer_decoding.py
"""
