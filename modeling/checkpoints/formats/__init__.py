"""Loads each format of weights into models, and writes formats.

A module here has the name of the module or package of `model_folders.formats`
that reads the files of the same format. The table there says which formats are
only read. Reading is there, because `data` and `serving` read folders of
weights too, and need no Keras for that:

    tf1.py: checkpoints of TensorFlow 1, as in Google's releases
    huggingface.py: the files of transformers
    kerashub.py: presets of KerasHub

For several formats:

    checkpoint.py: `Checkpoint`, the methods of checkpoints in all formats, and
        the `LoadReport` of what was loaded
    variables.py: Google's names of a model's variables, and their values
"""
