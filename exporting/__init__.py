"""Writes trained models as exports, which serving/ reads.

What users call:

    ExportOptions: Options of an export that do not depend on the kind of the
        model.
    export: Exports a model, with signatures that suit the kind of the model.

The modules that contain them:

    export_options.py: `ExportOptions`, and `ExportFormatOptions`, from whose
        flags scripts and tools create them
    export_writer.py: `export`, which creates the signatures of the model, and
        writes the folder with all its files

What the writers and serving/ must agree on, without TensorFlow:

    export_formats.py: the formats, with their files and packages, and what
        networks return instead of logits
    export_checksums.py: checksums of files, to compare two exports

The networks in the folder, by functions like `write_onnx`, which all have the
same arguments. Only SavedModels have several signatures. The inputs of the
other formats are ids of WordPieces:

    saved_model_writer.py: saved_model.pb and more, with tf.saved_model
    litert_writer.py: model.tflite, with tf.lite, only with builtin operations
    onnx_writer.py: onnx/model.onnx, from the graph of these modules:
    onnx_graph.py: `GraphBuilder`, and the encoder in a graph of ONNX
    onnx_heads.py: adds the head of each kind of model to the graph

The signatures of each kind of model. Those in classify_signatures.py do in a
graph what serving/text_tasks/classify.py does in Python, and so on. A change to
one needs the same change to its twin, and
tests/serving/text_tasks/test_text_task_twins.py compares them:

    classify_signatures.py: labels of texts, and probabilities of choices
    embed_signatures.py: vectors
    tag_signatures.py: tags of words
    pretrained_signatures.py: masked words and next sentences
    answer_signatures.py: answers to questions

They call graphs that stand beside their Python twins, such as
data/text/wordpiece_graph.py and data/squad/answer_decoding_graph.py.

What the signatures of several kinds share:

    signatures.py: a signature, and all signatures of a model
    batching_graph.py: runs the network on a few inputs at a time
    common_signatures.py: `ids`, which only runs the network, and `tokenize`
    label_outputs.py: what `ids` outputs for a model with labels
"""

from typing import TYPE_CHECKING

from dependencies import lazy

if TYPE_CHECKING:
    # The names of this package, for type checkers and editors. `as` tells them
    # that the names are public.
    from exporting.export_options import ExportOptions as ExportOptions
    from exporting.export_writer import export as export

# {name: its module}, as in the imports above. `lazy` imports a module at the
# first use of its name.
_MODULE_OF_NAME = {
    "ExportOptions": "exporting.export_options",
    "export": "exporting.export_writer",
}

__all__ = [*_MODULE_OF_NAME]
__getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)
