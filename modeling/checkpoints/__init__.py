"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py. The table in `model_folders.formats` says for each format
which module reads its files, loads it and writes it.

    loading.py: loads a checkpoint into a model, or creates the model from it
    finding.py: finds a checkpoint of any format, and checks its sizes
    head_comparison.py: whether a model can use the head in a folder
    formats/: a module for each format, which assigns the values in its files to
        the variables of a model, or writes the files
    vocabulary_extension.py: extends the vocabulary of a loaded model
"""
