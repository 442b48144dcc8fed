"""Finds the labels of a task, and turns the outputs of a model into labels.

From a table to labels:

    task_labels.py: the labels of a task, named by flags or by the train set
    row_labels.py: the label of a row, from its cells
    label_notations.py: the labels in a cell, in any notation
    label_checks.py: what is strange about the labels of a train set
    class_weights.py: how much each label counts in the training loss

From outputs to labels:

    text_outputs.py: the outputs of batches, and of the windows of a text
    label_codec.py: outputs to labels, and labels to the numbers of metrics
    label_writing.py: labels to the files of a test set
    label_report.py: the part of report.html
"""
