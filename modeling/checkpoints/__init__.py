"""Loads checkpoints of several libraries into models, and writes them.

    checkpoint.py: `Checkpoint`, what a checkpoint of any format can do
    finding.py: finds a checkpoint of any format
    loading.py: loads it into a model. Begin here
    restore.py: assigns the values of a file to the variables of a model
    variable_names.py: the names of a model's variables in checkpoints
    load_check.py: whether a model that is not trained has what it needs
    new_heads.py: whether a model uses the head in a folder, or a new one
    head_detection.py: for which task the names of weights say it was trained
    creating.py: creates a model of what a folder contains

model_folders/formats/__init__.py shows which files belong to one format. What
needs a model is here:

    tf1.py: loads and writes TensorFlow 1's, as in Google's releases
    huggingface.py: loads and writes transformers'
    kerashub.py: writes KerasHub's presets
    foreign.py: loads what `model_folders.formats` reads of more libraries

After loading:

    vocabulary_extension.py: extends the vocabulary of a model
"""
