"""Reads the sets of a user's own task from tables.

Read the modules in this order:

    table_processor.py: reads each set
    table_columns.py: finds the columns of the texts and of the label
    table_rows.py: reads the rows, and counts those that are left out
    row_parsing.py: finds the texts and the label of a row
    repeated_texts.py: warns of texts that are in two sets
"""
