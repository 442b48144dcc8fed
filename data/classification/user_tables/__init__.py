"""Reads a task in a user's own tables: its flags, columns, rows and labels.

data/tables/ reads the cells of a table, whatever they mean. Read the modules in
this order:

    column_options.py: the options of a table: its columns, its labels
    unset_columns.py: guesses the columns that no flag names
    table_tasks.py: the tasks that --task_name selects, and how they differ
    table_processor.py: opens the processor of a task, whose `sets` are the next
    table_sets.py: `TableSets`, which reads the table of each set once
    row_parsing.py: finds the texts and the label of a row
    label_notations.py: the labels in a cell, in any notation
    task_labels.py: the labels of a task, found, checked and logged

Each line calls the next one, until a row of train.csv is an example:

    processor.sets.read("train")    `HeldSets`: reads a set once, and holds it
      FileSets.read_sets            finds train.csv, or splits --data_file
        TableSets.read_examples     the examples, and a log of other rows
          RowParser.parse           the texts and the label of a row
            read_accepted_rows      leaves out what an annotator rejected
              read_table            the named cells of each row (`Table`)
"""
