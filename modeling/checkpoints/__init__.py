"""Loads checkpoints of several libraries into models, and writes them.

    checkpoint.py: `Checkpoint`, the methods of checkpoints in all formats
    finding.py: finds a checkpoint of any format
    loading.py: loads a checkpoint into a model. Begin here
    restore.py: assigns the values of a file to the variables of a model
    variable_names.py: the names of a model's variables in checkpoints
    load_check.py: checks that a model that is not trained lacks no weights
    new_heads.py: whether a model uses the head in a folder, or a new one
    head_detection.py: finds out from names of weights what a head was trained
        for
    creating.py: creates a model with the weights of a folder

model_folders/formats/__init__.py shows which files belong to one format. These
modules read and write the weights of a model:

    tf1.py: loads and writes checkpoints of TensorFlow 1, as in Google's
        releases
    huggingface.py: loads and writes the files of transformers
    kerashub.py: writes KerasHub's presets
    format_readers.py: loads formats of more libraries, which `model_folders.formats`
        reads

After loading:

    vocabulary_extension.py: extends the vocabulary of a model
"""
