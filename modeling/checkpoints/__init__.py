"""Loads checkpoints of several libraries into models, and writes them.

    checkpoint.py: `Checkpoint`, what a checkpoint of any format can do
    loading.py: finds and loads a checkpoint of any format. Begin here
    restore.py: assigns the values of a file to the variables of a model
    names.py: the names of a model's variables in checkpoints
    new_heads.py: whether a model uses the head in a folder, or a new one

Each format has a module:

    tf1.py: TensorFlow 1's, as in Google's releases. Training uses it
    huggingface.py: transformers'
    kerashub.py: writes KerasHub's presets
    foreign.py: loads what `model_folders.weights` reads of more libraries

After loading:

    extending.py: extends the vocabulary of a model

The code of a format is in three folders. The JSON files beside the weights are
read in model_folders/, the names and the values in model_folders/weights/, and
models are loaded and written here:

    Google's and ours    bert_config.py, model_json.py
                         tf1_files.py
                         tf1.py
    transformers         config_files.py, tokenizer_files.py
                         huggingface_files.py, huggingface_names.py
                         huggingface.py
    tf_model.h5          config_files.py, tokenizer_files.py
                         tf_h5.py, transformers_names.py
                         foreign.py loads it, nothing writes it
    KerasHub             kerashub_files.py
                         kerashub_weights.py, kerashub_targets.py
                         foreign.py loads it, kerashub.py writes it
    objects, as those    saved_models.py
    of Model Garden      object_graph.py, object_entries.py, object_names.py
    and TF-Hub           foreign.py loads them, nothing writes them
"""
