"""Reads a task in a user's own tables: its flags, columns, rows and labels.

data/tables/ reads the cells of a table, whatever they mean. Read the modules in
this order:

    column_options.py: the options of a table: its columns, the kind of labels
    column_search.py: finds the columns that no flag names
    table_tasks.py: the tasks that --task_name selects, and how they differ
    table_processor.py: the sets, the labels and the metrics of a task
    table_sets.py: `TableSets`, which reads the table of each set once
    row_parsing.py: finds the texts and the label of a row
    label_notations.py: the labels in a cell, in any notation
    task_labels.py: the labels of a task, found, checked and logged
"""
