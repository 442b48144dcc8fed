"""Reads and writes the files of a folder of weights, without Keras.

Three modules define what all other modules use:

    bert_config.py: the sizes and rates of a network
    kinds.py: one entry for each class of model
    output_modes.py: what the labels of a classifier are

What the files of a folder state, and which module reads them:

    reading/: `read_preset` and `Preset`, all that the files of a folder state
    model_json_types.py: the entries of model.json, their types and values
    model_json.py: model.json, which this project writes
    labels.py: labels.txt, the names of outputs, and their order
    tokenizer_files.py: creates vocab.txt and the files beside it
    formats/: the files of each format of weights

What Keras needs to load a `.keras` file:

    saved_classes.py: the classes that the file may name

What a command does with a folder:

    checkpoint_folders.py: finds the checkpoint to use in the folder of a run
    atomic_folders.py: creates and replaces folders, complete or not at all
    scores.py: the scores in the folder of a run, and which are of one label
    cards/: the README.md of a folder
"""
