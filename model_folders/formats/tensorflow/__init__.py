"""Reads the checkpoints that TensorFlow writes, of both kinds.

Checkpoints of TensorFlow 1, in which each variable has a name:

    tf1_weights.py: opens a checkpoint
    tf1_index.py: checks the index, whose errors would end the process

Object-based checkpoints of TensorFlow 2, in which a graph of objects has the
names. Their values are in the same files:

    object_config.py: what a SavedModel of TF-Hub states about its encoder
    object_weights.py: finds checkpoints whose names are in a graph of objects
    object_entries.py: opens these checkpoints
    object_graph.py: the variables in their graph
    object_names.py: the names in these checkpoints
"""
