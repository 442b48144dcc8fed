"""Exports models as SavedModels, and for LiteRT and ONNX Runtime.

Only SavedModels have several signatures. The inputs of the other formats are
WordPiece ids.

    Format       Files                Converter
    saved_model  saved_model.pb, ...  keras.export
    litert       model.tflite         tf.lite, only with builtin operations
    onnx         onnx/model.onnx      onnx.py, which builds the graph

LiteRT cannot run fused operations or skip padding. So a model for LiteRT uses
the unfused operations of modeling/ops.py, and processes padding too.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import keras
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2,
)

from data.text.tokenization import FullTokenizer
from files import atomic, folders
from modeling import ops
from modeling.accelerated import inference, tracing
from modeling.bert import BertModel
from modeling.checkpoints.tf1 import errors_named
from modeling.layers import all_layers
from modeling.tokenizer_files import tokenizer_files
from serving import engines
from training.config import ExportConfig

T = TypeVar("T")
# (function, specs of its inputs)
Endpoint = tuple[Callable[..., Any], Sequence[tf.TensorSpec]]


def export_saved_model(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    endpoints: Mapping[str, Endpoint],
    files: Mapping[str, str] | None = None,
    options: ExportConfig | None = None,
    tokenizer: FullTokenizer | None = None,
    output_mode: str = "classification",
) -> None:
    """Exports a model in each format that `options` names.

    A SavedModel contains all endpoints. Each other format contains only the
    first endpoint. An earlier export in the folder is replaced when the new
    export is complete.

    Args:
        export_dir: folder to write. Missing parent folders are created.
        model: keras.Model whose variables are exported.
        endpoints: {signature name: (function, list of tf.TensorSpec)}. The
            first endpoint also becomes `serving_default`.
        files: {name: text} of additional files, such as the labels. If the only
            format is a SavedModel, all files except README.md are written to
            the folder `assets.extra`.
        options: ExportConfig, or None for a SavedModel.
        tokenizer: FullTokenizer of the model, or None. The tokenizer's files
            are written too, in the formats of this project and of other
            libraries.
        output_mode: for a classifier, "classification", "multilabel" or
            "regression".

    Raises:
        OSError: the export cannot be written. An earlier export does not
            change.
        ValueError: the folder contains files that are not an export (see
            files/folders.py), or the model has no weights yet.
    """
    if not model.built:
        raise ValueError(
            f"{model.name} has no weights yet; call build() or load a "
            f"checkpoint before you export the model to {export_dir}"
        )
    options = options or ExportConfig()
    names = options.export_formats
    first = next(iter(endpoints.values()))
    with folders.new_folder(export_dir) as folder:
        for name in names:
            path = folder / engines.RUNTIMES[name].file
            path.parent.mkdir(exist_ok=True)
            if name == "saved_model":
                _write_saved_model(export_dir, folder, model, endpoints)
            elif name == "litert":
                _write_litert(path, model, first, options)
            else:
                _write_onnx(path, model, output_mode, options)
        extra = folder
        if names == ("saved_model",):
            extra = folder / "assets.extra"
            extra.mkdir(exist_ok=True)
        for name, text in (files or {}).items():
            place = folder if name == "README.md" else extra
            atomic.write_text(place / name, text)
        if tokenizer:
            longest = model.config.max_position_embeddings
            contents = tokenizer_files(tokenizer, longest)
            for name, content in contents.items():
                atomic.write_bytes(extra / name, content)


def _write_saved_model(
    export_dir: str | os.PathLike[str],
    folder: Path,
    model: keras.Model,
    endpoints: Mapping[str, Endpoint],
) -> None:
    archive = keras.export.ExportArchive()
    kernels = inference.copy_kernels(model)
    # `archive` finds the variables that the functions use. If it also tracked
    # the model, the variables would be stored and loaded twice
    # (https://github.com/keras-team/keras/issues/23553).
    for name, (function, signature) in endpoints.items():

        def call(*inputs: Any, function: Callable = function) -> Any:
            with tracing.replaced_values(kernels):
                return function(*inputs)

        # Keras and TensorFlow each trace a function that they export. Let both
        # trace a call of one graph, and not the network.
        used = tf.function(trace_once(call), autograph=False)
        archive.add_endpoint(name, used, input_signature=signature)
    with errors_named(f"--export_dir={export_dir}"):
        archive.write_out(str(folder), verbose=False)


def trace_once(function: Callable[..., T]) -> Callable[..., T]:
    """Wraps a function, so that all signatures call the same traced graph.

    Otherwise each signature of a SavedModel would contain its own copy of the
    graph, for example of the network.

    Args:
        function: function (tensors or dicts of tensors) -> tensors.
    """
    traced = tf.function(function, autograph=False)

    def call(*inputs: Any) -> T:
        if ops.is_plain():
            # An export for LiteRT contains only one signature, so it contains
            # only one copy of the graph.
            return function(*inputs)
        specs = tf.nest.map_structure(
            lambda x: tf.TensorSpec([None] * x.shape.rank, x.dtype), inputs
        )
        return traced.get_concrete_function(*specs)(*inputs)

    return call


@contextlib.contextmanager
def _plain(model: keras.Model) -> Iterator[None]:
    """Turns off a model's fused operations in a `with` block.

    Also turns off mixed precision and the skipping of padding, because LiteRT
    can neither convert 16-bit operations nor skip padding.
    """
    changes: list[tuple[keras.Layer, str, Any]] = []
    for layer in all_layers(model):
        changes.append((layer, "dtype_policy", layer.variable_dtype))
        if isinstance(layer, BertModel):
            changes.append((layer, "unpad", False))
    before = [(layer, name, getattr(layer, name)) for layer, name, _ in changes]
    try:
        for change in changes:
            setattr(*change)
        with ops.plain():
            yield
    finally:
        for change in before:
            setattr(*change)


def _write_litert(
    path: Path, model: keras.Model, endpoint: Endpoint, options: ExportConfig
) -> None:
    function, signature = endpoint
    if length := options.export_seq_length:
        signature = [
            tf.TensorSpec([*spec.shape[:-1], length], spec.dtype, spec.name)
            for spec in signature
        ]
    with _plain(model):
        traced = tf.function(
            function, input_signature=signature, autograph=False
        )
        concrete = traced.get_concrete_function()
    # Turn the weights into constants. Otherwise the converter would omit the
    # weights of a Keras model without raising an error.
    frozen = convert_variables_to_constants_v2(concrete)

    def serve(*inputs: tf.Tensor) -> Any:
        return tf.nest.pack_sequence_as(
            concrete.structured_outputs, frozen(*inputs)
        )

    module = tf.Module()
    module.serve = tf.function(serve, signature, autograph=False)
    # Convert from a SavedModel, because the converter then keeps the names of a
    # signature's inputs and outputs.
    with tempfile.TemporaryDirectory(dir=path.parent) as saved:
        tf.saved_model.save(module, saved, {"serve": module.serve})
        converter = tf.lite.TFLiteConverter.from_saved_model(
            saved, signature_keys=["serve"]
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        if options.quantize:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        path.write_bytes(converter.convert())


def _write_onnx(
    path: Path, model: keras.Model, output_mode: str, options: ExportConfig
) -> None:
    # Import late, because only this format needs the package onnx.
    from serving.export import onnx

    precision = options.quantize or "float32"
    length = options.export_seq_length
    graph = onnx.create(model, output_mode, length, precision)
    if not options.quantize:
        onnx.save(graph, path)
        return
    # An optional package.
    from onnxruntime import quantization

    # Prevent the warning that the graph should be optimized before it is
    # quantized. ONNX Runtime optimizes the graph that it loads.
    quantization.quant_utils.add_pre_process_metadata(graph)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder, "model.onnx")
        onnx.save(graph, whole)
        quantization.quantize_dynamic(whole, path, per_channel=True)
