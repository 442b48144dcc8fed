"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py here, and look into `model_folders.formats` only for how
the files of one format are read.

    loading.py: loads a checkpoint into a model, or creates the model from it
    finding.py: finds a checkpoint of any format, and checks its sizes
    head_comparison.py: whether a model can use the head in a folder
    checkpoint.py: `Checkpoint`, the methods of checkpoints in all formats, and
        the `LoadReport` of what was loaded
    variables.py: Google's names of a model's variables, and their values

These modules assign the values of one format to the variables of a model, or
write them. `model_folders.formats` reads the files, and its table lists the
formats:

    tf1_checkpoint.py: loads and writes checkpoints of TensorFlow 1, as in
        Google's releases
    huggingface_checkpoint.py: loads and writes the files of transformers
    format_readers.py: loads the formats of more libraries, and KerasHub's
    kerashub_writing.py: writes KerasHub's presets

After loading:

    vocabulary_extension.py: extends the vocabulary of a model
"""
