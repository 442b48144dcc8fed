"""Writes answers: a file for each format, with a function like `write_csv`.

The functions have the same arguments: write_csv(batches, output, schema).

    output_rows.py: what they write
    output_writer.py: chooses one of them
    jsonl.py: JSON lines
    csv_table.py: CSV
    npy.py: one numeric field, as an array of NumPy
"""
