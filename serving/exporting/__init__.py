"""Writes models for use outside of training, as exports.

Nothing that answers requests imports this package. For training and
tools/export.py:

    export_config.py: the flags of tools/export.py, some of which training has
    export_steps.py: the steps of tools/export.py, up to the next function
    export.py: `export`, which chooses the signatures that suit a kind of model
    export_folder.py: writes the folder with all its files
    writers/: writes a SavedModel, LiteRT and ONNX
    heads/: what differs between the kinds of models
    signatures/: what the signatures of a SavedModel consist of
    onnx_graph/: builds the graph of an ONNX file
"""
