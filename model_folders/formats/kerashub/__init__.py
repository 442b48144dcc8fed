"""Reads the presets of KerasHub, and creates the contents of their files.

The weights are datasets of HDF5, which are numbered, not named:

    config.py: reads config.json, task.json and other JSON files
    objects.py: creates the contents of these files
    weights.py: opens model.weights.h5 and task.weights.h5
    targets.py: the variables to which the numbered datasets belong
"""
