"""Reads the folders of transformers.

The JSON files, which folders with a tf_model.h5 contain too:

    config.py: config.json
    tokenizer.py: what a tokenizer's files state
    vocabulary.py: the vocabulary in a tokenizer.json
    sentence_transformers.py: how sentence-transformers makes one vector of a
        text

The weights of PyTorch:

    weights.py: opens model.safetensors and pytorch_model.bin, and converts the
        names in these files
"""
