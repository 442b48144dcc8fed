"""Writes models for use outside of training, as exports.

Nothing that replies to requests imports this package. For training and
tools/export.py:

    export.py: `export`, which looks up what exports the head of the model
    folder_writer.py: writes the folder with all its files

The networks in the folder, by functions like `write_onnx`, which all have the
same arguments. engines/ runs each format. Only SavedModels have several
signatures. The inputs of the other formats are ids of WordPieces:

    saved_model_writer.py: saved_model.pb and more, with tf.saved_model
    litert_writer.py: model.tflite, with tf.lite, only with builtin operations
    onnx_writer.py: onnx/model.onnx, from the graph that onnx_graph/ builds

What is in the networks:

    heads/: what differs between the kinds of models, a module for each kind
    graphs/: TensorFlow graphs that repeat functions of data/, for heads/
    signatures/: what the signatures of a SavedModel consist of
    onnx_graph/: builds the graph of an ONNX file, to which heads/ adds heads
"""

from typing import TYPE_CHECKING

from dependencies import lazy

if TYPE_CHECKING:
    # The names of this package, for type checkers and editors. `as` tells them
    # that the names are public.
    from serving.exporting.export import is_exportable as is_exportable

# {name: its module} of what training needs of this package. `lazy` imports a
# module at the first use of its name, so this package loads no TensorFlow.
_MODULE_OF_NAME = {"is_exportable": "serving.exporting.export"}

__all__ = [*_MODULE_OF_NAME]
__getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)
