"""Reads what the files of a folder of weights state, in any format.

The modules, the one to read first at the top:

    presets.py: `Preset`, all that the files of a folder state
    preset_reading.py: `read_preset`, which calls the modules below and formats/
    stated_flags.py: the values of flags that a Preset states
    config_files.py: the configuration of a network, in a file of any library
    hub.py: downloads a folder of the Hugging Face hub
    input_length.py: finds the length of inputs that a model was trained on
    settings_check.py: compares a model's settings with those of its training
"""
