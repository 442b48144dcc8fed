"""Converts text and data files to the network's inputs. Writes predictions.

What all tasks use:

    io/: text files, local, remote or compressed, and TFRecords
    tables/: the rows of people's tables, in any format
    sets/: the train, dev and test sets of a task, each read once, and the
        split of one file into two sets
    parallel_jobs/: work on large inputs, in processes or on Beam
    text/: text to WordPieces, in Python and in a graph
    arrays.py: types of NumPy arrays
    padding.py: trims a batch to its longest input
    probabilities.py: logits to probabilities, and these to logarithms

A module whose name ends in "_graph" does in a graph what the Python beside it
does. A package for each task reads, encodes, decodes and scores its examples:

    pretraining/: documents, instances, masking
    classification/: texts, pairs and choices: GLUE, SWAG and users' tables
    squad/: questions about a passage
    ner/: named entities, or any other tags of words

What all tasks write:

    predictions/: predictions, as rows or arrays, and report.html of a dev set
"""
