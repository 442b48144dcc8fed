"""Writes models for use outside of training, as exports.

Nothing that answers requests imports this package. For training and
tools/export.py:

    export.py: `export`, which looks up what exports the head of the model
    folder_writer.py: writes the folder with all its files
    heads/: what differs between the kinds of models, a module for each kind
    writers/: writes a SavedModel, LiteRT and ONNX
    signatures/: what the signatures of a SavedModel consist of
    onnx_graph/: builds the graph of an ONNX file, to which heads/ adds heads
"""

from typing import TYPE_CHECKING

from imports import lazy

if TYPE_CHECKING:
    # The names of this package, for type checkers and editors. `as` tells them
    # that the names are public.
    from serving.export_options import ExportFlags as ExportFlags
    from serving.exporting.export import is_exportable as is_exportable

# {name: its module} of what training needs of this package. `lazy` imports a
# module at the first use of its name, so that the flags need no TensorFlow.
_MODULE_OF_NAME = {
    "is_exportable": "serving.exporting.export",
    "ExportFlags": "serving.export_options",
}

__all__ = [*_MODULE_OF_NAME]
__getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)
