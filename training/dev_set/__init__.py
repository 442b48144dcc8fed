"""Decides whether the scores of a dev set may be trusted.

Scores mean nothing if the weights were trained on rows of the dev set. A
command asks twice, and records what a later command needs to ask again:

    rules.py: before the rows of --data_file are read: the rule that takes the
        dev set from them, and whether an earlier run used another rule
    comparison.py: after all sets are read: whether the dev set is a set that
        the weights were trained on
    set_fingerprints.py: `SetFingerprint`, which identifies a set in model.json.
        Both compare with the fingerprints of earlier runs

The docstring of rules.py lists the steps in the order of a command.
"""
