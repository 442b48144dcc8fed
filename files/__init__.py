"""Writes complete files or none, locks folders, and reads and writes JSON.

This package imports only the standard library, and loads TensorFlow only for
remote paths. Its modules:

    paths.py: finds files, and names them for TensorFlow and in errors
    lock.py: keeps two processes from writing the same file or folder
    atomic.py: files that appear complete or not at all
    json_files.py: writes JSON, and is the only module that reads JSON
    typed_dict_checks.py: compares JSON with the types in a TypedDict
"""
