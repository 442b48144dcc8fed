"""Writes exports: a file for each format, with a function like `write_onnx`.

The functions have the same arguments:

    write_onnx(path, model, signatures, options)

Only SavedModels have several signatures. The inputs of the other formats are
WordPiece ids. engines/ runs each format, as in engines/onnx.py.

    saved_model_writer.py: saved_model.pb and more, with tf.saved_model
    litert_writer.py: model.tflite, with tf.lite, only with builtin operations
    onnx_writer.py: onnx/model.onnx
    onnx_graph.py: builds the graph of an ONNX file
    onnx_encoder.py: adds the encoder to the graph
    onnx_heads.py: adds the head to the graph, a function for each kind of model
"""
