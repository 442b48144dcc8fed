"""Writes exports: a file for each format, with a function like `write_onnx`.

The functions have the same arguments: write_onnx(path, model, head, options).
Only SavedModels have several signatures. The inputs of the other formats are
WordPiece ids. engines/ contains a file of the same name that runs the format.

    saved_model.py: saved_model.pb and more, with tf.saved_model
    litert.py: model.tflite, with tf.lite, only with builtin operations
    onnx.py: onnx/model.onnx
    onnx_graph.py: builds the graph of an ONNX file
    onnx_encoder.py: adds the encoder to it
    onnx_heads.py: adds the head to it, one function a kind of model
"""
