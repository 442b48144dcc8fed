"""Additional command-line tools, run as `python -m tools.NAME`.

Each is a script with flags of its own:

    create_vocabulary.py: learns a WordPiece vocabulary, or extends one
    convert_checkpoint.py: converts between Google's format and other formats
    export.py: exports a trained model, to serve it
    plot_runs.py: draws the curves of runs
    results_table.py: a table of the scores of runs

What only a tool needs is in a package beside it: its flags and its stages. What
other code needs too is in the package that does the work, such as `export` in
exporting/:

    vocabulary/: the flags and the stages of create_vocabulary.py
    conversion/: the flags and the stages of convert_checkpoint.py
    exporting/: the flags and the stages of export.py
    run_comparison/: the flags and the work of plot_runs.py and results_table.py
"""
