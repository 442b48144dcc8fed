"""Reads what the files of a folder of weights state, in any format.

The modules, the one to read first at the top:

    presets.py: `Preset`, all that the files of a folder state, and the flags
        that follow from it
    preset_reading.py: `read_preset`, which calls the modules below and formats/
    config_files.py: the configuration of a network, in a file of any library
    hub.py: downloads a folder of the Hugging Face hub
    settings_check.py: compares a model's settings with those of its training
"""
