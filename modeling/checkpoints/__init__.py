"""Loads checkpoints of several libraries into models, and writes them.

    checkpoint.py: `Checkpoint`, what a checkpoint of any format can do
    loading.py: finds and loads a checkpoint of any format. Begin here
    restore.py: assigns the values of a file to the variables of a model
    names.py: the names of a model's variables in checkpoints
    new_heads.py: whether a model uses the head in a folder, or a new one

Each format has a module:

    tf1.py: TensorFlow 1's, as in Google's releases. Training uses it
    huggingface.py: transformers'
    kerashub.py: writes KerasHub's presets
    foreign.py: loads what `model_folders.weights` reads of more libraries

After loading:

    extending.py: extends the vocabulary of a model
"""
