"""Writes exports, for training and tools/export.py.

Nothing that answers requests imports this package.

    export.py: `export`, which chooses what the kind of a model needs
    export_options.py: its options
    formats/: writes a SavedModel, LiteRT and ONNX
    signatures/: the tasks of a model in a graph, as SavedModels contain them
"""
