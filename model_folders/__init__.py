"""Reads and writes the files of a folder of weights, without Keras.

Definitions of what such a folder states. `data`, `modeling`, `training` and
`serving` share them:

    bert_config.py: the sizes and rates of a network
    kinds.py: one entry for each class of models
    head_settings.py: how the outputs of a head are read
    output_modes.py: what the labels of a classifier are
    saved_classes.py: the classes that Keras loads from a `.keras` file
    labels.py: the names of outputs, their order, and labels.txt
    scores.py: the scores of a model, and their names in the files of a run

Which module reads the files of a folder:

    reading/: `read_preset` and `Preset`, all that the files of a folder state
    model_json.py: model.json, which this project writes, and `read_model_json`
    training_settings.py: what a resumed run must keep, as model.json records it
    fingerprints.py: which files a training read, as model.json records them
    tokenizer_files.py: creates vocab.txt and the files beside it
    formats/: the files of each format of weights

What a command does with a folder:

    checkpoint_folders.py: finds the checkpoint to use in the folder of a run
    atomic_folders.py: creates and replaces folders, complete or not at all
    cards/: the README.md of a folder
"""
