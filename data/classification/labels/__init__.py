"""Finds the labels of a task, and turns the outputs of a model into labels.

From a table to labels:

    label_set.py: the labels of a task, named by flags or by the train set
    label_notations.py: the labels in a cell, in any notation

From outputs to labels:

    label_decoding.py: outputs to labels, and to the files of a test set
    label_report.py: the part of report.html
"""
