"""The signatures of exports: what a file of text_tasks/ does, in a graph.

tag_graph.py defines `create_tag_signatures`, which returns the ExportSignatures
of one kind of model. The modules of other kinds define such a function too.
Only tokenize_graph.py defines a single signature, which all kinds have.

classify_graph.py is the twin of text_tasks/classify.py, and so on: a change to
one needs the same change to the other, and
tests/serving/text_tasks/test_text_task_twins.py compares them.

    export_options.py: the options of an export, for Python
    export_signatures.py: what all signatures use
    batching_graph.py: splits large requests inside a SavedModel
    tokenize_graph.py: the WordPieces of a text
    classify_graph.py: labels of texts
    embed_graph.py: vectors
    tag_graph.py: tags of words
    answer_graph.py: answers to questions
    pretrained_graph.py: masked words and next sentences
    choose_graph.py: choices, from ids only, so it has no twin
"""
