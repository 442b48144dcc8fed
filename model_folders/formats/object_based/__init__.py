"""Reads object-based checkpoints, which name weights by a graph of objects.

Model Garden, TF-Hub and `save_weights` of transformers 4 write them. Their
values are in the files of a checkpoint of TensorFlow 1, which tf1.py opens:

    folders.py: finds these checkpoints, and what a SavedModel of TF-Hub states
    weights.py: opens a checkpoint, and reads the variables in its graph
"""
