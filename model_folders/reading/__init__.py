"""Reads the files that describe the weights in a folder, in any format.

The modules, the one to read first at the top:

    preset.py: `read_preset`, which reads a folder into a `Preset`. It calls the
        modules below and formats/. Other functions read later what only some
        commands need
    config_files.py: the configuration of a network, in a file of any library,
        and the other files that belong to weights
    hub.py: downloads a folder of the Hugging Face hub
    settings_check.py: compares a model with the class and the settings that a
        `Preset` states
"""
