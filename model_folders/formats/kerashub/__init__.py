"""Reads the presets of KerasHub, and creates the contents of their files.

The weights of a preset are datasets of HDF5, which are numbered, not named:

    kerashub_config.py: reads config.json, task.json and other JSON files
    kerashub_objects.py: creates the contents of these files
    kerashub_weights.py: opens model.weights.h5 and task.weights.h5
    kerashub_names.py: the variables to which the numbered datasets belong
"""
