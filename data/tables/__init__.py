"""Reads people's tables: their format, dialect, header and columns.

A file becomes rows in three steps. `Table` opens it. `read_rows` calls the
reader of its format, which guesses from the first rows what the user left open,
and cuts each row into cells. A `RowBuilder` then gives the cells of CSV, TSV
and Excel the names of their columns:

    tables.py: `Table`, rows of cells by the names of their columns. Begin here
    prodigy_rows.py: leaves out the rows that an annotator rejected in Prodigy
    table_layout.py: what must be known to read a table, and its options
    csv_tables.py: reads CSV, TSV and the like
    json_tables.py: reads JSON
    parquet.py: reads Parquet
    workbooks.py: reads Excel
    rows.py: what a row is, and what is wrong with a malformed one

What csv_tables.py calls, in this order:

    table_checks.py: refuses files that are no tables
    header_line_checks.py: refuses titles above the names of the columns, and
        more names below them
    csv_dialects.py: guesses the dialect: the delimiter and the quotes
    csv_sample.py: the first rows of a table in a dialect
    header_detection.py: guesses whether the first row names the columns, as
        for Excel

For jobs that read parts of a large file:

    file_ranges.py: cuts files into ranges, and reads the rows of a range

What the columns mean:

    column_names.py: usual names of columns
"""
