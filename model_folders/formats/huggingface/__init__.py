"""Reads the folders of transformers.

Their JSON files, which folders with a tf_model.h5 contain too:

    huggingface_config.py: config.json
    huggingface_tokenizer.py: what a tokenizer's files state
    huggingface_vocabulary.py: the vocabulary in a tokenizer.json
    huggingface_pooling.py: how sentence-transformers makes one vector of a text

The weights of PyTorch:

    huggingface_weights.py: opens model.safetensors and pytorch_model.bin
    huggingface_names.py: the names in these files

The weights of TensorFlow, which transformers 4 wrote:

    tf_h5_weights.py: opens tf_model.h5
    tf_h5_names.py: the names in this file
"""
