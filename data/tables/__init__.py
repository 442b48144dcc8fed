"""Reads people's tables: their format, dialect, header and columns.

    tables.py: `Table`, rows of cells by the names of their columns. Begin here
    table_layout.py: what must be known to read a table, and its options
    table_formats.py: the reader of each format, which yields the rows
    rows.py: what a row is, and what is wrong with a malformed one

The formats whose readers need more than a function:

    csv_rows.py: the rows of CSV, TSV and the like in a dialect
    dialects.py: guesses the dialect, that is the delimiter and the quotes
    json_tables.py: JSON
    parquet.py: Parquet
    workbooks.py: Excel

For jobs that read parts of a large file:

    file_ranges.py: cuts files into ranges, and reads the rows of a range

What the first rows show of CSV, TSV and Excel:

    first_cell_roles.py: whether the first cell of a column is its name
    header_detection.py: whether the first row names the columns
    extra_header_lines.py: refuses a title above the names, and more below
    table_checks.py: refuses files that are no tables

What the columns mean:

    usual_names.py: usual names of columns
    prodigy.py: leaves out rows that an annotator did not accept
"""
