"""Exports a trained model from the folder of its weights.

The top-level package exporting/ writes an export, and shares its flags with the
scripts that train. tools/export.py lists the stages:

    export_config.py: the flags of tools/export.py
    export_stages.py: finds the model to export, loads it, and chooses the
        options of its export
"""
