"""Writes what a task or predict.py has computed for a whole set or file.

Predictions, as files that other programs read:

    output_rows.py: rows of predictions
    output_text.py: writes rows as JSON lines or CSV
    output_arrays.py: writes one field of the rows as npy
    output_writer.py: opens the output of predictions, and chooses the format

For people:

    report.py: report.html, the errors of a model on a dev set
"""
