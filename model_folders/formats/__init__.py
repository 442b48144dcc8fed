"""Reads the files of each format of weights, without Keras.

The files of a format are read here: their JSON, and the names, shapes and
values of the weights. modeling/checkpoints/ loads these values into a model,
and writes files, because only that needs Keras. `data` and `serving` read the
files of a folder too, and need no Keras for that. The modules of a format begin
with its name in both packages:

    here            in modeling/checkpoints/
                    loads                      writes
    tf1             tf1_checkpoint.py          tf1_writer.py
    huggingface     huggingface_checkpoint.py  huggingface_writer.py
    kerashub        converted_checkpoint.py    kerashub_writer.py
    tf_h5           converted_checkpoint.py
    object_based    converted_checkpoint.py

Begin with modeling/checkpoints/loading.py, which loads any format into a model,
and come here for how the files of one format are read: first in tf1_weights.py.

    tf1_weights.py: checkpoints of TensorFlow 1, of Google and of this project
    huggingface_config.py: the config.json of transformers
    huggingface_tokenizer.py: the casing in the tokenizer files of transformers
    huggingface_vocabulary.py: the vocabulary in a tokenizer.json
    huggingface_weights.py: the weights of PyTorch, and their names
    sentence_transformers_config.py: the JSON of sentence-transformers, beside
        the files of transformers
    kerashub_config.py: reads the JSON of KerasHub's presets
    kerashub_objects.py: creates the JSON of KerasHub's presets
    kerashub_weights.py: the weights of KerasHub's presets, which are datasets
        of HDF5, numbered and not named
    kerashub_targets.py: the variable that each of these numbers stands for
    tf_h5_weights.py: the weights of TensorFlow, which transformers 4 wrote
    object_based_folders.py: finds the checkpoints of Model Garden and TF-Hub,
        and what a SavedModel of TF-Hub states
    object_based_weights.py: opens these checkpoints, which name weights by a
        graph of objects. `save_weights` of transformers 4 wrote them too
    object_based_names.py: converts the names of these weights to Google's

The JSON files of Google and of this project are described in model_folders/, in
bert_config.py, model_json.py and tokenizer_files.py.

For several formats:

    weight_entries.py: an entry of a file, and its names
    shards.py: the index of weights in several files
    shape_checks.py: compares a configuration with the shapes in a file
    head_names.py: recognizes the head in a file
    h5_files.py: lists the datasets of an HDF5 file
"""
