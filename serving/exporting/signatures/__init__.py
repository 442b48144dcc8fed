"""The signatures of exports: what a file of tasks/ does, in a graph.

Each file defines `create_head`, which returns the Head of one kind of model. A
change to one needs the same change to its twin of the same name in tasks/, with
which tests/serving/test_twins.py compares it.

    heads.py: what all signatures use
    batches.py: splits large requests inside a SavedModel
    tokenize.py: the WordPieces of a text
    classify.py: labels of texts
    embed.py: vectors
    tag.py: tags of words
    answer.py: answers to questions
    pretraining.py: masked words and next sentences
    choose.py: choices, from ids only, so that it has no twin
"""
