"""Reads a task in a user's own tables: its flags, columns, rows and labels.

data/tables/ reads the cells of a table, whatever they mean. Read the modules in
this order:

    table_columns.py: the options of a table, and a guess of its columns that no
        flag names
    table_tasks.py: the tasks that --task_name selects
    table_processor.py: opens the processor of a task
    table_reader.py: `TableReader`, which reads the table of a set
    table_examples.py: `RowParser`, which turns rows into examples
    table_labels.py: the labels of the task, collected, checked and logged
    label_notations.py: the labels in a cell, in any notation

Three classes make a row of train.csv an example. Each calls only the next:

    FileSets.read("train")     finds train.csv, or splits --data_file
      TableReader.read_file    reads the rows, and checks their labels
        RowParser.parse_rows   the texts and the label of each row
"""
