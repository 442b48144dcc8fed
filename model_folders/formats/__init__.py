"""Reads the files of each format of weights, without Keras.

A folder has the formats of one library, and lists their modules:

    tensorflow/: checkpoints, which are named (tf1_*) or object-based (object_*)
    huggingface/: folders of transformers, for PyTorch (huggingface_*) and for
        TensorFlow (tf_h5_*)
    kerashub/: presets of KerasHub (kerashub_*)

Each format has a prefix. The rest of a module's name says what the module does:

    *_config     what the JSON files beside the weights state
    *_weights    finds or opens the files of the weights
    *_names      converts the names in these files to Google's

Models are loaded and written in modeling/checkpoints/:

    weights of                  prefix        loaded by       written by
    Google, and this project    tf1_          tf1.py          tf1.py
    Model Garden, TF-Hub        object_       foreign.py      nothing
    transformers                huggingface_  huggingface.py  huggingface.py
    transformers 4              tf_h5_        foreign.py      nothing
    KerasHub                    kerashub_     foreign.py      kerashub.py

The JSON files of Google and of this project are described in model_folders/, in
bert_config.py, model_json.py and tokenizer_files.py.

For several formats:

    weight_entries.py: an entry of a file, under Google's name
    weight_names.py: converts names in files, for several formats
    shape_checks.py: compares a configuration with the shapes in a file
    shards.py: the index of weights in several files
    h5_files.py: lists the datasets of an HDF5 file
    folder_warnings.py: logs what is odd in a folder, but only once
"""
