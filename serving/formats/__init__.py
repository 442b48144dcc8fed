"""Writes exports: a file for each format, with a function like `write_onnx`.

The functions have the same arguments: write_onnx(path, model, head, options).
Only SavedModels have several signatures. The inputs of the other formats are
WordPiece ids. engines/ contains a file of the same name that runs the format.

    Format       Files                Converter
    saved_model  saved_model.pb, ...  tf.saved_model
    litert       model.tflite         tf.lite, only with builtin operations
    onnx         onnx/model.onnx      onnx_graph.py, onnx_encoder.py and
                                      onnx_heads.py, which build the graph
"""
