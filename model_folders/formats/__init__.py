"""Reads the files of each format of weights, without Keras.

Each format has a prefix. The rest of a module's name says what the module does:

    *_config     what the JSON files beside the weights state
    *_weights    finds or opens the files of the weights
    *_names      converts the names in these files to Google's

Models are loaded and written in modeling/checkpoints/:

    weights of                  prefix        loaded by       written by
    Google, and this project    tf1_          tf1.py          tf1.py
    transformers                huggingface_  huggingface.py  huggingface.py
    transformers 4              tf_h5_        foreign.py      nothing
    KerasHub                    kerashub_     foreign.py      kerashub.py
    Model Garden, TF-Hub        object_       foreign.py      nothing

The JSON files of Google and of this project are described in model_folders/, in
bert_config.py, model_json.py and tokenizer_files.py.

Checkpoints of TensorFlow 1:

    tf1_weights.py: opens a checkpoint
    tf1_index.py: checks the index, whose errors would end the process

Folders of transformers. Folders with a tf_model.h5 contain the same JSON files:

    huggingface_config.py: config.json
    huggingface_tokenizer.py: what a tokenizer's files state
    huggingface_vocabulary.py: the vocabulary in a tokenizer.json
    huggingface_pooling.py: how sentence-transformers makes one vector of a text
    huggingface_weights.py: opens model.safetensors and pytorch_model.bin
    huggingface_names.py: the names in these files
    tf_h5_weights.py: opens tf_model.h5
    tf_h5_names.py: the names in this file

Presets of KerasHub:

    kerashub_config.py: reads config.json, task.json and other JSON files
    kerashub_objects.py: creates the contents of these files
    kerashub_weights.py: opens model.weights.h5 and task.weights.h5
    kerashub_names.py: the variables to which the numbered datasets belong

Object-based checkpoints of TensorFlow 2:

    object_config.py: what a SavedModel of TF-Hub states about its encoder
    object_weights.py: finds checkpoints whose names are in a graph of objects
    object_entries.py: opens these checkpoints
    object_graph.py: the variables in their graph
    object_names.py: the names in these checkpoints

For several formats:

    weight_entries.py: an entry of a file, under Google's name
    weight_names.py: converts names in files, for several formats
    shape_checks.py: compares a configuration with the shapes in a file
    shards.py: the index of weights in several files
    h5_files.py: lists the datasets of an HDF5 file
"""
