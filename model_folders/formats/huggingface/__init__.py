"""Reads the folders of transformers.

Their JSON files, which folders with a tf_model.h5 contain too:

    config.py: config.json
    tokenizer.py: what a tokenizer's files state
    vocabulary.py: the vocabulary in a tokenizer.json
    sentence_transformers.py: how sentence-transformers makes one vector of a
        text

The weights of PyTorch:

    weights.py: opens model.safetensors and pytorch_model.bin
    names.py: the names in these files

The weights of TensorFlow, which transformers 4 wrote:

    tf_h5_weights.py: opens tf_model.h5
    tf_h5_names.py: the names in this file
"""
