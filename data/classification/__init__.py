"""Reads texts to classify, converts them to inputs, and scores predictions.

The folders import these modules, which import none of the folders.

Examples and their sets:

    classification_examples.py: an example, its label, its label as a number
    classification_processor.py: the sets, the labels and the metrics of a task
    user_class_processor.py: sets that a user's class for Google's code reads
    google_code.py: runs the file that contains this class
    swag_examples.py: SWAG

From an example to files:

    classification_features.py: examples to inputs, and inputs to records
    label_codec.py: outputs to labels
    metrics.py: the metrics of labels and of numbers
    ranking_metrics.py: the metrics of passages that are ranked for queries
    scoring.py: scores the examples of a set that have a label
    similar_pairs.py: pairs whose vectors are compared: scores, inputs, metrics
    prediction_files.py: outputs to the files of a run
    label_report.py: outputs to report.html

What --task_name selects. Neither folder imports the other one:

    glue/: the tasks of GLUE, and XNLI
    user_tables/: a task in a user's own tables
"""
