"""Reads and writes the files of a folder of weights, without Keras.

Two modules define what all others speak of:

    bert_config.py: the sizes and rates of a network
    kinds.py: one entry for each class of model

What the files of a folder state, and who reads it:

    presets.py: `Preset`, all that the files of a folder state
    preset_reading.py: `read_preset`, which asks the modules below
    config_files.py: the configuration of a network, in a file of any library
    model_json_types.py: the entries of model.json, with their types
    model_json.py: model.json, which this project writes
    recorded_sets.py: which rows a run trained on, as model.json records it
    labels.py: labels.txt, the names of outputs in their order
    tokenizer_files.py: creates vocab.txt and the files beside it
    folder_warnings.py: what is odd in a folder, logged only once
    formats/: the files of each format of weights

What a command does with a folder:

    hub.py: downloads a folder of the Hugging Face hub
    checkpoint_folders.py: finds the checkpoint to use in the folder of a run
    input_length.py: finds the length of inputs that a model was trained on
    settings_check.py: compares a model's settings with those of its training
    atomic_folders.py: creates and replaces folders, complete or not at all
    results.py: the scores of a run as text
    cards/: the README.md of a folder
"""
