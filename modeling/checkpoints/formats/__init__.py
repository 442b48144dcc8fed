"""Loads each format of weights into models, and writes some formats.

A module here has the name of the module or package of `model_folders.formats`
that reads the files of the same format. The table there lists all formats. It
is another package, because `data` and `serving` read the files of a folder too,
and need no Keras for that:

    tf1.py: checkpoints of TensorFlow 1, as in Google's releases
    huggingface.py: the folders of transformers
    kerashub.py: presets of KerasHub
    tf_h5.py: tf_model.h5 of transformers 4
    object_based.py: checkpoints of Model Garden and TF-Hub

For several formats:

    checkpoint.py: `Checkpoint`, the base class of all formats, and the
        `LoadReport` of what was loaded
    converted_checkpoint.py: `ConvertedCheckpoint`, the base class of the last
        three, whose names and shapes the reader converts to Google's
    variables.py: Google's names of a model's variables, and their values
"""
