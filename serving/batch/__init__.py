"""Answers the requests of files, pipes and command lines, for predict.py.

Each request becomes a row of the output, with the columns that it came with.

    predict_config.py: the flags of predict.py
    predict_steps.py: the steps of predict.py, with the modules below
    request_files.py: reads requests from the rows of files, or from arguments
    batch_loop.py: answers them, so that each becomes a row to write
    formats/: writes these rows, as JSON lines, CSV or npy
    bulk/: answers large inputs, in any processes
"""
