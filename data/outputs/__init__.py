"""Writes rows of answers, for training and predict.py, in several formats.

Each format has a module, with a function like `write_csv`.

The functions have the same arguments: write_csv(batches, output, schema).

    output_rows.py: the rows that the functions write
    output_writer.py: chooses the function for a format
    jsonl.py: JSON lines
    csv_table.py: CSV
    npy.py: one numeric field, as an array of NumPy
"""
