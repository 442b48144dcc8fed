"""Reads requests from files, pipes and arguments, and answers them in batches.

The modules, the one to read first at the top:

    request_files.py: reads requests from files, or from arguments
    row_parser.py: converts a row of a file to a request
    batch_loop.py: forms batches of requests, and makes a row of each reply
"""
