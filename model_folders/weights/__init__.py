"""Reads names, shapes and values in files of weights, without a model.

modeling/checkpoints/__init__.py shows which files belong to one format: these,
the JSON files beside the weights, and what loads and writes models.

For all formats:

    entries.py: an entry of a file, under Google's name
    entry_names.py: converts the names in files to Google's
    sizes.py: compares a configuration with the shapes in a file
    shards.py: the index of weights in several files

Files of Hugging Face, for torch:

    huggingface_files.py: opens model.safetensors and pytorch_model.bin
    huggingface_names.py: the names in these files

TensorFlow's checkpoints:

    tf1_files.py: opens a checkpoint
    bundle_index.py: checks its index, where TensorFlow ends the process
    object_graph.py: finds checkpoints whose names are in a graph of objects
    object_entries.py: reads these
    object_names.py: the names in them

HDF5 files:

    h5_files.py: lists the datasets of a file
    tf_h5.py: reads tf_model.h5 of transformers 4
    transformers_names.py: the names in that file
    kerashub_weights.py: reads the weights of KerasHub's presets
    kerashub_targets.py: the variables that their numbered datasets belong to
"""
