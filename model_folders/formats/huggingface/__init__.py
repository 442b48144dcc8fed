"""Reads the folders of transformers.

The JSON files, which folders with a tf_model.h5 contain too:

    config.py: config.json, and how sentence-transformers makes one vector of a
        text
    tokenizer.py: the casing and the vocabulary that a tokenizer's files state

The weights of PyTorch:

    weights.py: opens model.safetensors and pytorch_model.bin, and converts the
        names in these files
"""
