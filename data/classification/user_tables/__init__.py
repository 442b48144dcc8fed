"""Reads a task in a user's own tables: its flags, columns, rows and sets.

Read the modules in this order:

    table_options.py: the flags of a table: its columns, the kind of its labels
    table_task_specs.py: what each value of --task_name says of such a task
    table_processor.py: the sets, the labels and the metrics of the task
    table_reader.py: reads the table of a set
    table_columns.py: finds the columns of the texts and of the label
    table_rows.py: reads the rows, and counts those that are left out
    row_parsing.py: finds the texts and the label of a row
    pair_scores.py: which pairs of similar texts have a score
"""
