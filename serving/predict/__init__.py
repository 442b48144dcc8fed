"""Answers the requests of files, pipes and command lines, for predict.py.

An `InputRow` is a request with its place in a file. Its reply becomes an
`OutputRow`, a row of the output, which keeps the columns of the input row.

    predict_config.py: the flags of predict.py
    predict_steps.py: the steps of predict.py, with the modules below
    requests/: reads requests from files, and answers them in batches
    outputs/: writes output rows as JSON lines, CSV or npy
    bulk/: answers large inputs, in several processes
"""
