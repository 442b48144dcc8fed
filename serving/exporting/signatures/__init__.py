"""The signatures of exports: what a file of text_tasks/ does, in a graph.

tag_graph.py defines `create_tag_signatures`, which returns the ExportSignatures
of one kind of model. The modules of other kinds define such a function too.
The export of a multiple-choice model accepts only ids, so it needs no module.

classify_graph.py is the twin of text_tasks/classify.py, and so on: a change to
one needs the same change to the other, and
tests/serving/text_tasks/test_text_task_twins.py compares them.

    export_signatures.py: `ExportSignatures`, and what all signatures use
    ids_graph.py: `ids`, which only runs the network, and computes its outputs
    batching_graph.py: splits large requests inside a SavedModel
    tokenize_graph.py: WordPieces, as the network reads them
    classify_graph.py: labels of texts
    embed_graph.py: vectors
    tag_graph.py: tags of words
    answer_graph.py: answers to questions
    pretrained_graph.py: masked words and next sentences
"""
