"""Writes answers: a file for each format, with a function like `write_csv`.

The functions have the same arguments: write_csv(batches, output, schema).
rows.py defines what they write, and answer_writer.py chooses one of them.
"""
