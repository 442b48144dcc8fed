"""Writes exports: a file for each format, with a function like `write_onnx`.

The functions have the same arguments:

    write_onnx(path, model, signatures, options)

Only SavedModels have several signatures. The inputs of the other formats are
WordPiece ids. engines/ runs each format, as in engines/onnx.py.

    saved_model_writer.py: saved_model.pb and more, with tf.saved_model
    litert_writer.py: model.tflite, with tf.lite, only with builtin operations
    onnx_writer.py: onnx/model.onnx, from the graph that onnx_graph/ builds
"""
