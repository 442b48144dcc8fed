"""Reads texts to classify, converts them to inputs, and scores predictions.

The folders import these modules, which import none of the folders.

Examples and their sets:

    classification_examples.py: an example of a classification or a regression
    classification_processor.py: the sets, the labels and the metrics of a task
    swag_examples.py: SWAG

From an example to a score:

    label_numbers.py: the label of an example to ids, or to a number
    classification_features.py: examples to the network's input
    text_windows.py: long texts to several inputs
    classification_records.py: inputs to records
    metrics.py: labels to scores

Each folder imports only folders above it:

    glue/: the tasks of GLUE, and XNLI
    labels/: finds labels, decodes outputs to labels, and reports them
    pairs/: the inputs and the scores of pairs, for ranking and for vectors
    table_tasks/: a task in a user's own tables
    task_selection/: what --task_name or --processor selects of all these
"""
