"""Writes models for use outside of training: exports, and copies of weights.

Nothing that answers requests imports this package.

Exports, for training and tools/export.py:

    export_config.py: the flags of tools/export.py
    export_steps.py: the steps of tools/export.py, up to the next function
    export.py: `export`, which chooses the signatures that suit a kind of model
    export_folder.py: writes the folder with all its files
    export_flags.py: the flags of scripts that export
    writers/: writes a SavedModel, LiteRT and ONNX
    signatures/: the tasks of a model in a graph, as SavedModels contain them

Copies of weights between the formats of Google, Hugging Face and KerasHub. A
copy leaves the project as an export does: other libraries run it.
modeling/checkpoints/ writes the weights of a model, but imports neither flags
nor tokenizers, which a copy needs. tools/convert_checkpoint.py lists the steps:

    convert_checkpoint_config.py: the flags of tools/convert_checkpoint.py
    conversion_steps.py: chooses a format, and loads the model and its tokenizer
    converted_copy.py: writes the model to a folder in this format
"""
