"""Exports models over ids to other runtimes, by their own converters.

    litert    model.tflite                 tf.lite, builtin operations only
    onnx      model.onnx                   tf2onnx
    openvino  model.xml and model.bin      openvino

Each is written from the plain operations of modeling/ops.py, padding
included: what TensorFlow fuses or leaves out, the others have no form for.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2,
)

from modeling import ops
from modeling.bert import BertModel
from modeling.layers import all_layers
from training.config import ExportConfig

# The newest opset that tf2onnx writes.
_OPSET = 18


def write(
    folder: Path,
    model: keras.Model,
    function: Callable[..., Any],
    signature: Sequence[tf.TensorSpec],
    options: ExportConfig,
) -> None:
    """Writes a function of ids in another format than "saved_model".

    Args:
        folder: exists.
        model: the model whose weights the function uses.
        function: (*tensors) -> dict of tensors.
        signature: specs of the tensors; the last dimension is the length.
        options: ExportConfig.
    """
    length = options.export_seq_length
    signature = [
        tf.TensorSpec([*spec.shape[:-1], length], spec.dtype, name=spec.name)
        if length
        else spec
        for spec in signature
    ]
    with _plain(model):
        traced = tf.function(
            function, input_signature=signature, autograph=False
        )
        traced.get_concrete_function()
        _WRITERS[options.export_format](
            folder, traced, signature, options.quantize == "int8"
        )


@contextlib.contextmanager
def _plain(model: keras.Model) -> Iterator[None]:
    """Traces graphs in the block with padding and plain operations."""
    berts = [
        layer
        for layer in all_layers(model)
        if isinstance(layer, BertModel) and layer.unpad
    ]
    for bert in berts:
        bert.unpad = False
    try:
        with ops.plain():
            yield
    finally:
        for bert in berts:
            bert.unpad = True


def _write_litert(
    folder: Path, traced: Any, signature: Any, int8: bool
) -> None:
    concrete = traced.get_concrete_function()
    # Otherwise a Keras model's file would lack the weights, without an error.
    frozen = convert_variables_to_constants_v2(concrete)

    def serve(*inputs: tf.Tensor) -> Any:
        return tf.nest.pack_sequence_as(
            concrete.structured_outputs, frozen(*inputs)
        )

    module = tf.Module()
    module.serve = tf.function(serve, signature, autograph=False)
    # Only from a SavedModel does the converter take the names of a signature.
    with tempfile.TemporaryDirectory(dir=folder) as saved:
        tf.saved_model.save(module, saved, {"serve": module.serve})
        converter = tf.lite.TFLiteConverter.from_saved_model(
            saved, signature_keys=["serve"]
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        if int8:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        (folder / "model.tflite").write_bytes(converter.convert())


def _write_onnx(folder: Path, traced: Any, signature: Any, int8: bool) -> None:
    import tf2onnx

    path = str(folder / "model.onnx")
    tf2onnx.convert.from_function(
        traced, input_signature=signature, opset=_OPSET, output_path=path
    )
    if int8:
        from onnxruntime import quantization

        whole = str(folder / "float32.onnx")
        os.rename(path, whole)
        quantization.quantize_dynamic(whole, path, per_channel=True)
        os.remove(whole)


def _write_openvino(
    folder: Path, traced: Any, signature: Any, int8: bool
) -> None:
    # ExportConfig refuses int8.
    del int8
    import openvino

    frozen = convert_variables_to_constants_v2(traced.get_concrete_function())
    converted = openvino.convert_model(frozen.graph)
    openvino.save_model(
        converted, str(folder / "model.xml"), compress_to_fp16=False
    )


_WRITERS = {
    "litert": _write_litert,
    "onnx": _write_onnx,
    "openvino": _write_openvino,
}
