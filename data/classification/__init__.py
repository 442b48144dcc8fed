"""Reads texts to classify, converts them to inputs, and scores predictions.

The folders import these modules, which import none of the folders.

Examples and their sets:

    classification_examples.py: an example, its label, its label as a number
    classification_processor.py: a task: its sets, and how it is scored
    class_weights.py: the weights of classes of different sizes

From an example to files:

    classification_features.py: examples to inputs, and inputs to records
    label_codec.py: outputs to labels
    metrics.py: scores predictions of labels, numbers, rankings and vectors
    prediction_files.py: outputs to the files of a run
    label_report.py: outputs to report.html

What --task_name or --processor selects:

    glue/: the tasks of GLUE, and XNLI
    user_tables/: a task in a user's own tables
    similar_pairs.py: the scores of pairs in such tables, for
        --task_name=embedding
    user_class.py: a user's class, written for Google's code
    google_code.py: runs the file of the class, and explains its errors

What run_swag.py reads:

    swag_examples.py: SWAG, a choice of four endings
"""
