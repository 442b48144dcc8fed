"""Writes models for use outside of training, as exports.

Nothing that answers requests imports this package. For training and
tools/export.py:

    export_flags.py: `ExportFlags`, the flags of the folder and the formats
    export.py: `export`, which looks up what exports the head of the model
    export_folder.py: writes the folder with all its files
    heads/: what differs between the kinds of models, a module for each kind
    writers/: writes a SavedModel, LiteRT and ONNX
    signatures/: what the signatures of a SavedModel consist of
    onnx_graph/: builds the graph of an ONNX file, to which heads/ adds heads
"""
