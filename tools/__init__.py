"""Additional command-line tools, run as `python -m tools.NAME`.

Each is a script with flags of its own:

    create_vocabulary.py: learns a WordPiece vocabulary, or extends one
    convert_checkpoint.py: converts between Google's format and other formats
    export.py: exports a trained model, to serve it
    plot_runs.py: draws the curves of runs
    results_table.py: a table of the scores of runs
"""
