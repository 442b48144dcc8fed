"""Converts weights between the formats of Google, Hugging Face and KerasHub.

This is a part of serving/ because a copy leaves the project as an export does:
other libraries run it. modeling/checkpoints/ writes the weights of a model, but
imports neither flags nor tokenizers, which a copy needs.
tools/convert_checkpoint.py lists the steps.

    convert_checkpoint_config.py: the flags of tools/convert_checkpoint.py
    conversion_steps.py: chooses a format, and loads the model and its tokenizer
    converted_copy.py: writes the model to a folder in this format
"""
