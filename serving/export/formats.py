"""Exports models for LiteRT, ONNX Runtime and OpenVINO.

The inputs of the exported models are WordPiece ids.

    Format    Files                    Converter
    litert    model.tflite             tf.lite, only with builtin operations
    onnx      onnx/model.onnx          onnx.py, which builds the graph
    openvino  model.xml and model.bin  openvino, from the graph of onnx.py

LiteRT cannot run fused operations or skip padding. So a model for LiteRT uses
the plain operations of modeling/ops.py, and also computes padding.
"""

import contextlib
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
from serving import engines


def write(
    folder: Path,
    model: keras.Model,
    name: str,
    endpoint: tuple[Callable[..., Any], Sequence[tf.TensorSpec]],
    output_mode: str,
    length: int | None,
    int8: bool,
) -> None:
    """Writes a model in the format "litert", "onnx" or "openvino".

    Args:
        folder: existing folder of the export.
        model: model of a task.
        name: name of the format.
        endpoint: (function, specs of its inputs) of the signature `serve`.
        output_mode: for a classifier, "classification", "multilabel" or
            "regression".
        length: fixed length of inputs in WordPieces, or None for any length.
        int8: whether to quantize the weights to int8.
    """
    path = folder / engines.RUNTIMES[name].file
    path.parent.mkdir(exist_ok=True)
    if name == "litert":
        _write_litert(path, model, endpoint, length, int8)
        return
    # Import late, because only these two formats need the package onnx.
    from serving.export import onnx

    precision = "int8" if int8 else "float32"
    graph = onnx.create(model, output_mode, length, precision)
    if name == "onnx":
        _write_onnx(path, graph, int8)
    else:
        _write_openvino(path, graph)


@contextlib.contextmanager
def _plain(model: keras.Model) -> Iterator[None]:
    """Lets a model compute with plain operations in a `with` block.

    The model computes also at padding, and in float32 even with mixed
    precision, because LiteRT cannot convert operations in 16 bits.
    """
    layers = all_layers(model)
    policies = [layer.dtype_policy for layer in layers]
    berts = [
        layer
        for layer in layers
        if isinstance(layer, BertModel) and layer.unpad
    ]
    for layer in layers:
        layer.dtype_policy = layer.variable_dtype
    for bert in berts:
        bert.unpad = False
    try:
        with ops.plain():
            yield
    finally:
        for bert in berts:
            bert.unpad = True
        for layer, policy in zip(layers, policies, strict=True):
            layer.dtype_policy = policy


def _write_litert(
    path: Path,
    model: keras.Model,
    endpoint: tuple[Callable[..., Any], Sequence[tf.TensorSpec]],
    length: int | None,
    int8: bool,
) -> None:
    function, signature = endpoint
    if length:
        signature = [
            tf.TensorSpec([*spec.shape[:-1], length], spec.dtype, spec.name)
            for spec in signature
        ]
    with _plain(model):
        traced = tf.function(
            function, input_signature=signature, autograph=False
        )
        concrete = traced.get_concrete_function()
    # Turn the weights into constants. Otherwise the file of a Keras model would
    # not contain them, and no error would be raised.
    frozen = convert_variables_to_constants_v2(concrete)

    def serve(*inputs: tf.Tensor) -> Any:
        return tf.nest.pack_sequence_as(
            concrete.structured_outputs, frozen(*inputs)
        )

    module = tf.Module()
    module.serve = tf.function(serve, signature, autograph=False)
    # Convert a SavedModel, because the converter keeps a signature's names only
    # in this case.
    with tempfile.TemporaryDirectory(dir=path.parent) as saved:
        tf.saved_model.save(module, saved, {"serve": module.serve})
        converter = tf.lite.TFLiteConverter.from_saved_model(
            saved, signature_keys=["serve"]
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        if int8:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        path.write_bytes(converter.convert())


def _write_onnx(path: Path, graph: Any, int8: bool) -> None:
    from serving.export import onnx

    if not int8:
        onnx.save(graph, path)
        return
    from onnxruntime import quantization

    # Prevent the warning that the graph should be optimized before it is
    # quantized. ONNX Runtime optimizes the graph when it loads the file.
    quantization.quant_utils.add_pre_process_metadata(graph)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder, path.name)
        onnx.save(graph, whole)
        quantization.quantize_dynamic(whole, path, per_channel=True)


def _write_openvino(path: Path, graph: Any) -> None:
    import openvino

    from serving.export import onnx

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder, "model.onnx")
        onnx.save(graph, whole)
        converted = openvino.convert_model(whole)
        openvino.save_model(converted, path, compress_to_fp16=False)
