"""Compares runs: their curves in an image, and their scores in a table.

A tool draws the image, and another one writes the table:

    plot_runs_config.py: the flags of tools/plot_runs.py
    run_curves.py: draws the curves in the histories of runs
    results_table_config.py: the flags of tools/results_table.py
    score_table.py: formats the scores of runs as a Markdown table
"""
