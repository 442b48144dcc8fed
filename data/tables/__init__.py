"""Reads people's tables: their format, dialect, header, columns and split.

    tables.py: `Table`, rows of cells by the names of their columns. Begin here
    layout_options.py: the flags of scripts that read tables
    data_file_options.py: the flags of scripts that split one

How a table is written:

    table_formats.py: reads each format, and finds out which it is
    numbered_rows.py: a row as each reader yields it, or its error
    row_builder.py: a row from its cells, or what is wrong with it
    dialects.py: the delimiter and the quotes of CSV, TSV and the like
    table_sample.py: the first records, by which dialects.py finds them
    csv_records.py: reads such a file once they are known
    headers.py: whether the first line names the columns
    first_cells.py: what the first cell of each column is, for headers.py
    titles.py: a title above the header
    json_tables.py: JSON
    parquet.py: Parquet
    workbooks.py: Excel
    prodigy.py: leaves out rows that an annotator did not accept
    table_checks.py: refuses files that are no tables

What the columns mean:

    column_names.py: usual names of columns
    unnamed_columns.py: the keys of cells whose column has no name of its own

One file, two sets:

    data_file_split.py: splits the rows into a train set and a dev set
    row_keys.py: decides by a row's texts in which set it is
"""
