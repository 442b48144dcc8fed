"""Additional command-line tools, run as `python -m tools.NAME`.

Each is a script with flags of its own:

    create_vocabulary.py: learns a WordPiece vocabulary, or extends one
    convert_checkpoint.py: converts between Google's format and other formats
    export.py: exports a trained model, to serve it
    plot_runs.py: draws the curves of runs
    results_table.py: a table of the scores of runs

The work of a tool is in the package that it serves, as of export.py in
serving/exporting/. Only what serves no other package is here:

    conversion/: the flags and the steps of convert_checkpoint.py
    run_comparison/: the flags and the work of plot_runs.py and results_table.py
"""
