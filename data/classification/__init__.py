"""Reads texts to classify, converts them to inputs, and scores predictions.

Reading examples and their labels:

    classification_processor.py: the base class of what reads a task's sets
    glue.py: the tasks of GLUE, and XNLI
    glue_processor.py: reads their sets
    glue_layouts.py: the columns of GLUE's tasks in the files of any mirror
    swag_examples.py: SWAG
    table_processor.py: users' tables
    table_columns.py: their columns
    table_rows.py: their rows, and counts of those that are left out
    label_set.py: their labels
    label_cells.py: the labels in a cell
    repeated_texts.py: the texts that the train set and the dev set share
    pair_processors.py: tables of pairs, for ranking and for vectors
    user_processor.py: reads sets with a user's class for Google's code
    google_code.py: runs that class
    table_uses.py: the values of --task_name, and the uses of users' tables
    task_processors.py: the processors of a task, one or two
    classification_options.py: the flags of tables and GLUE

From an example to a score:

    classification_examples.py: examples to inputs
    pair_features.py: pairs of texts to two inputs, and to a scale of scores
    label_decoding.py: outputs to labels and files
    glue_submissions.py: labels to the files of GLUE's site
    metrics.py: labels to scores
    pair_scoring.py: rankings, and vectors of pairs, to scores
    label_report.py: the part of report.html
"""
