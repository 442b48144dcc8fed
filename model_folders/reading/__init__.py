"""Reads the files that describe the weights in a folder, in any format.

The modules, the one to read first at the top:

    preset.py: `read_preset`, which reads a folder into a `Preset`. It calls
        formats/ and the next three modules
    weights_paths.py: whether weights exist, and the folder of a checkpoint
    config_files.py: the configuration of a network, in a file of any library,
        and the other files that belong to weights
    hub.py: downloads a folder of the Hugging Face hub
    input_length.py: the maximum length of inputs, which only some commands need
    settings_check.py: compares a model with the class and the settings that a
        `Preset` states
"""
