"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py. Each format has modules of its name in
`model_folders.formats`, which read its files without Keras, and modules here:

    format          loads                      writes
    tf1             tf1_checkpoint.py          tf1_writer.py
    huggingface     huggingface_checkpoint.py  huggingface_writer.py
    kerashub        converted_checkpoint.py    kerashub_writer.py
    tf_h5           converted_checkpoint.py
    object_based    converted_checkpoint.py

For any format:

    loading.py: loads a checkpoint of any format into a model
    finding.py: finds a checkpoint, and chooses the class that loads its format
    head_comparison.py: whether a model can use the head of a checkpoint
    model_creation.py: creates a model of the sizes of a checkpoint
    vocabulary_extension.py: extends the vocabulary of a model
    variables.py: Google's names of a model's variables, the assignment of
        their values, and the `LoadReport` of what was loaded

To load a format:

    checkpoint.py: `Checkpoint`, the base class of what is loaded
    tf1_checkpoint.py: checkpoints of TensorFlow 1, as in Google's releases
    huggingface_checkpoint.py: the folders of transformers
    converted_checkpoint.py: `ConvertedCheckpoint`, with a table of its formats,
        whose names and shapes a reader converts to Google's: presets of
        KerasHub, tf_model.h5 of transformers 4, and the object-based
        checkpoints of Model Garden and TF-Hub

To write a format:

    tf1_writer.py: checkpoints of TensorFlow 1, and folders like Google's
    huggingface_writer.py: folders of transformers
    kerashub_writer.py: presets of KerasHub
"""
