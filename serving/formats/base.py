"""Exports models as SavedModels, and for LiteRT and ONNX Runtime.

Only SavedModels have several signatures. The inputs of the other formats are
WordPiece ids.

    Format       Files                Converter
    saved_model  saved_model.pb, ...  tf.saved_model
    litert       model.tflite         tf.lite, only with builtin operations
    onnx         onnx/model.onnx      onnx.py, which builds the graph

LiteRT cannot run fused operations or skip padding. So a model for LiteRT uses
the unfused operations of modeling/ops.py, and processes padding too.
"""

import contextlib
import dataclasses
import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import keras
import tensorflow as tf

from data.text.packing_layer import PackingLayer
from data.text.tokenization import FullTokenizer
from modeling import ops
from modeling.accelerated import inference, tracing
from modeling.bert import BertModel
from modeling.layers import all_layers
from serving import engines
from training.task import Task

T = TypeVar("T")
# (function, specs of its inputs)
Endpoint = tuple[Callable[..., Any], Sequence[tf.TensorSpec]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of every exporter.

    Attributes:
        tokenizer: FullTokenizer of the model. None exports only the signature
            `ids`.
        max_seq_length: maximum number of WordPieces in an input or a window.
        predict_batch_size: maximum number of inputs in one batch of the
            network, to limit the memory of a large request.
        formats: keys of `engines.RUNTIMES`.
        fixed_length: fixed length of inputs in formats other than
            "saved_model". None allows any length.
        quantize: "int8" to quantize formats other than "saved_model", or None.
        weights: checkpoint or folder of the weights, whose model.json becomes
            part of the export's. None if there is none.
    """

    tokenizer: FullTokenizer | None = None
    max_seq_length: int = 128
    predict_batch_size: int = 32
    formats: Sequence[str] = ("saved_model",)
    fixed_length: int | None = None
    quantize: str | None = None
    weights: str | None = None

    @classmethod
    def of(cls, task: Task) -> "ExportOptions":
        """Returns the options of a fine-tuning task's export."""
        size = task.options.predict_batch_size
        return cls.of_flags(task.options, task.tokenizer, size)

    @classmethod
    def of_flags(
        cls,
        flags: Any,
        tokenizer: FullTokenizer | None,
        predict_batch_size: int = 32,
    ) -> "ExportOptions":
        """Returns the options of a script's flags, a ModelConfig."""
        return cls(
            tokenizer=tokenizer,
            max_seq_length=flags.max_seq_length,
            predict_batch_size=predict_batch_size,
            formats=flags.export_formats,
            fixed_length=flags.export_seq_length,
            quantize=flags.quantize,
            weights=flags.weights,
        )

    @functools.cached_property
    def packing(self) -> PackingLayer:
        """The layer that turns texts into padded inputs of the network."""
        assert self.tokenizer
        return PackingLayer(self.tokenizer.layer, self.max_seq_length)


def write_models(
    folder: Path,
    model: keras.Model,
    endpoints: Mapping[str, Endpoint],
    options: ExportOptions,
    head_outputs: str,
) -> None:
    """Writes a model in each format that `options` names.

    `endpoints` are the signatures of a SavedModel. Each other format contains
    only `ids`. `head_outputs` names the outputs of a classifier in ONNX:
    "classification", "multilabel", "regression", or "logits".
    """
    for name in options.formats:
        path = folder / engines.RUNTIMES[name].file
        path.parent.mkdir(exist_ok=True)
        if name == "saved_model":
            _write_saved_model(folder, model, endpoints)
        elif name == "litert":
            _write_litert(path, model, endpoints["ids"], options)
        else:
            _write_onnx(path, model, head_outputs, options)


def _write_saved_model(
    folder: Path, model: keras.Model, endpoints: Mapping[str, Endpoint]
) -> None:
    # Save with TensorFlow, because keras.export traces each function twice.
    module, signatures = tf.Module(), {}
    # In mixed precision, store the kernels in 16 bits.
    kernels = [
        (kernel, tf.Variable(tf.cast(kernel.value, dtype)))
        for kernel, dtype in inference.kernels_to_cast(model)
    ]
    traced: dict[Callable, Any] = {}
    with tracing.replaced_values(kernels):
        for name, (function, specs) in endpoints.items():
            if function not in traced:
                graph = tf.function(function, specs, autograph=False)
                traced[function] = graph.get_concrete_function()
            signatures[name] = traced[function]
    # A SavedModel contains the variables that its module refers to.
    used = {id(v): v for each in traced.values() for v in each.graph.variables}
    module.weights = [*used.values()]
    tf.saved_model.save(module, str(folder), signatures)


def trace_once(function: Callable[..., T]) -> Callable[..., T]:
    """Wraps a function, so that all signatures call the same traced graph.

    Otherwise each signature of a SavedModel would contain its own copy of the
    graph. The function converts tensors, or dicts of tensors, to tensors.
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
    # Turns off fused operations, and what LiteRT can neither convert nor do:
    # mixed precision and the skipping of padding.
    with contextlib.ExitStack() as stack:
        for layer in all_layers(model):
            stack.callback(setattr, layer, "dtype_policy", layer.dtype_policy)
            layer.dtype_policy = layer.variable_dtype
            if isinstance(layer, BertModel):
                stack.callback(setattr, layer, "unpad", layer.unpad)
                layer.unpad = False
        with ops.plain():
            yield


def _write_litert(
    path: Path, model: keras.Model, endpoint: Endpoint, options: ExportOptions
) -> None:
    function, signature = endpoint
    if length := options.fixed_length:
        signature = [
            tf.TensorSpec([*spec.shape[:-1], length], spec.dtype, spec.name)
            for spec in signature
        ]
    with _plain(model):
        traced = tf.function(
            function, input_signature=signature, autograph=False
        )
        concrete = traced.get_concrete_function()
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


def _write_onnx(
    path: Path, model: keras.Model, head_outputs: str, options: ExportOptions
) -> None:
    # Import late, because only this format needs the package onnx.
    from serving.formats import onnx

    precision = options.quantize or "float32"
    length = options.fixed_length
    graph = onnx.create(model, head_outputs, length, precision)
    if not options.quantize:
        path.write_bytes(graph.SerializeToString())
        return
    # An optional package.
    from onnxruntime import quantization

    # Prevent the warning that the graph should be optimized before it is
    # quantized. ONNX Runtime optimizes the graph that it loads.
    quantization.quant_utils.add_pre_process_metadata(graph)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder, "model.onnx")
        whole.write_bytes(graph.SerializeToString())
        quantization.quantize_dynamic(whole, path, per_channel=True)
