"""Loads checkpoints of several libraries into models, and writes them.

Begin with loading.py here, and look into `model_folders.formats` only for how
the files of one format are read.

    loading.py: loads a checkpoint into a model, or creates the model from it
    finding.py: finds a checkpoint of any format, and checks its sizes
    heads.py: which head a checkpoint contains, and whether a model can use it
    checkpoint.py: `Checkpoint`, the methods of checkpoints in all formats, and
        the `LoadReport` of what was loaded
    variables.py: Google's names of a model's variables, and their values

These modules load or write the weights of one format. The table in
`model_folders.formats` shows the two places of each format:

    tf1.py: loads and writes checkpoints of TensorFlow 1, as in Google's
        releases
    huggingface.py: loads and writes the files of transformers
    kerashub.py: writes KerasHub's presets
    format_readers.py: loads the formats of more libraries, and KerasHub's

After loading:

    vocabulary_extension.py: extends the vocabulary of a model
"""
