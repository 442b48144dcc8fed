"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py here, and look into `model_folders.formats` only for how
the files of one format are read.

    loading.py: loads a checkpoint into a model, or creates the model from it
    finding.py: finds a checkpoint of any format, and checks its sizes
    head_comparison.py: whether a model can use the head in a folder
    format_readers.py: loads the formats that are only read, and KerasHub's
    formats/: loads and writes the other formats
    vocabulary_extension.py: extends the vocabulary of a loaded model
"""
