"""Writes models for LiteRT.

LiteRT cannot run fused operations or trim padding. So a model for LiteRT uses
the unfused operations of modeling/ops.py, and processes padding too.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

from exporting.common_signatures import create_ids_signature
from exporting.export_options import ExportOptions
from exporting.signatures import ExportSignatures, Signature
from modeling import ops
from modeling.base_model import BaseModel
from modeling.bert import BertModel
from modeling.layers import all_layers


def write_litert(
    path: Path,
    model: BaseModel,
    signatures: ExportSignatures,
    options: ExportOptions,
) -> None:
    """Writes the file model.tflite.

    Args:
        path: path of the file to write.
        model: model whose network and weights the file contains.
        signatures: signatures of the export. The file contains only `ids`.
        options: `fixed_length` and `quantize` apply.
    """
    signature = create_ids_signature(signatures.predict, model)
    with _plain_operations(model):
        concrete = _trace_signature(signature, options.fixed_length)
    # The converter omits the weights that the SavedModel's module does not
    # refer to.
    module = tf.Module()
    module.weights = [*concrete.graph.variables]
    # Convert from a SavedModel, because the converter then keeps the names of a
    # signature's inputs and outputs.
    with tempfile.TemporaryDirectory(dir=path.parent) as saved:
        tf.saved_model.save(module, saved, {"serve": concrete})
        converter = tf.lite.TFLiteConverter.from_saved_model(
            saved, signature_keys=["serve"]
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        if options.quantize:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        path.write_bytes(converter.convert())


def _trace_signature(
    signature: Signature, fixed_length: int | None
) -> tf.types.experimental.ConcreteFunction:
    """Returns the graph of a signature, for inputs of a fixed or any length."""
    function, inputs = signature
    if fixed_length:
        inputs = [
            tf.TensorSpec(
                [*spec.shape[:-1], fixed_length], spec.dtype, spec.name
            )
            for spec in inputs
        ]
    traced = tf.function(function, input_signature=inputs, autograph=False)
    return traced.get_concrete_function()


@contextlib.contextmanager
def _plain_operations(model: BaseModel) -> Iterator[None]:
    """Switches off the features that LiteRT cannot convert or run.

    These are fused operations, mixed precision and the trimming of padding.
    """
    with contextlib.ExitStack() as stack:
        for layer in all_layers(model):
            stack.callback(setattr, layer, "dtype_policy", layer.dtype_policy)
            layer.dtype_policy = layer.variable_dtype
            if isinstance(layer, BertModel):
                stack.callback(
                    setattr, layer, "trim_padding", layer.trim_padding
                )
                layer.trim_padding = False
        with ops.plain_versions():
            yield
