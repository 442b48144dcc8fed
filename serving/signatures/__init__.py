"""The signatures of exports: what a file of tasks/ does, in a graph.

Each file defines `create_head`, which returns the Head of one kind of model. A
change to one needs the same change to its twin of the same name in tasks/, with
which tests/serving/test_twins.py compares it.
"""
