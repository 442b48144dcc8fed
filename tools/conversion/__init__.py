"""Copies weights between the formats of Google, Hugging Face and KerasHub.

modeling/checkpoints/ reads and writes the values of weights. A copy also needs
the tokenizer, the labels and a card. tools/convert_checkpoint.py lists the
stages:

    convert_checkpoint_config.py: the flags of tools/convert_checkpoint.py
    conversion_stages.py: chooses a format, loads a model and its tokenizer, and
        extends the vocabulary
    model_copy.py: what is written in this format
"""
