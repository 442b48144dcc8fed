"""Reads the train, dev and test sets of any task.

Read them in this order:

    split_names.py: names the splits that a command reads
    set_cache.py: reads each set once, and holds it until it is taken
    set_reader.py: `SetReader`, the base class of what reads the sets of a task
"""
