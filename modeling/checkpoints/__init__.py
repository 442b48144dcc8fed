"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py. The table in `model_folders.formats` says for each format
which module reads its files, loads them and writes them.

    loading.py: loads a checkpoint of any format into a model
    finding.py: finds a checkpoint, and chooses the class that loads its format
    head_comparison.py: whether a model can use the head of a checkpoint
    model_creation.py: creates a model of the sizes of a checkpoint
    vocabulary_extension.py: extends the vocabulary of a model

A checkpoint in a format:

    checkpoint.py: `Checkpoint`, the base class of what is loaded
    converted_checkpoint.py: `ConvertedCheckpoint`, with a table of its formats,
        whose names and shapes a reader converts to Google's: presets of
        KerasHub, tf_model.h5 of transformers 4, and the object-based
        checkpoints of Model Garden and TF-Hub
    variables.py: Google's names of a model's variables, the assignment of
        their values, and the `LoadReport` of what was loaded
    tf1_checkpoint.py: loads and writes checkpoints of TensorFlow 1, as in
        Google's releases
    huggingface_checkpoint.py: loads and writes the folders of transformers
    kerashub_writer.py: writes presets of KerasHub
"""
