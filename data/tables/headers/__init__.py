"""Guesses what the first rows of a table are, and what its columns contain.

Nothing here reads a file. The readers of CSV and Excel pass the first rows, as
lists of cells, to `decide_header`:

    header_detection.py: whether the first row names the columns
    extra_header_lines.py: refuses a title above the names, and more below
    first_cell_roles.py: whether the first cell of a column is its name
    cells.py: what a cell contains: a number, a date, or no value

Once the names are known, they show what the columns contain:

    usual_names.py: usual names of columns
"""
