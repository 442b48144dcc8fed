"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py. The table in `model_folders.formats` says for each format
which module reads its files, loads them and writes them.

    loading.py: finds a checkpoint of any format, and loads it into a model,
        with its head if the model can use it
    model_creation.py: creates a model of the sizes of a checkpoint, or extends
        the vocabulary of a model

A checkpoint in a format:

    checkpoint.py: `Checkpoint`, the base class of what is loaded, and
        `ConvertedCheckpoint` with a table of its formats, whose names and
        shapes a reader converts to Google's: presets of KerasHub, tf_model.h5
        of transformers 4, and the object-based checkpoints of Model Garden and
        TF-Hub
    variables.py: Google's names of a model's variables, the assignment of
        their values, and the `LoadReport` of what was loaded
    tf1_checkpoint.py: loads and writes checkpoints of TensorFlow 1, as in
        Google's releases
    huggingface_checkpoint.py: loads and writes the folders of transformers
    kerashub_writer.py: writes presets of KerasHub
"""
