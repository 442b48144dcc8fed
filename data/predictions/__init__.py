"""Writes rows of predictions in several formats.

A training and predict.py use the same functions. A prediction is what a network
says of a row: that of a training, or the reply of an export to a request.

    output_rows.py: the rows to write, and a prediction beside a table's cells
    output_writer.py: opens the output, and chooses the function for its format
    text_formats.py: JSON lines and CSV
    npy.py: one numeric field, as an array of NumPy

The function of each format has the same arguments, such as
write_csv(batches, output, schema).
"""
