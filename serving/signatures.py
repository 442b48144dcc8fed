"""Building blocks of all exports.

N = texts, B = batch, F = length of an input.
"""

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from data.io.tfrecords import trim_padding
from data.text.packing_layer import PackingLayer
from data.text.ragged import rows
from data.text.tokenization import FullTokenizer
from modeling import BertConfig
from serving import export
from training.config import ExportConfig

# Maximum values of padded outputs, unless at least a quarter are real.
_MAX_PADDING = 1 << 20

Features = dict[str, tf.Tensor]
# {name: (function, the specs of its inputs)}
Endpoints = dict[str, tuple[Callable[..., Features], list[tf.TensorSpec]]]


@dataclasses.dataclass(frozen=True)
class ServingOptions:
    """Settings that turn text into a model's inputs, and the export's format.

    Attributes:
        tokenizer: FullTokenizer of the model.
        max_seq_length: WordPieces of an input, or of a window.
        predict_batch_size: maximum inputs that the network computes at a time,
            which limits the memory of a large request.
        export: format of the export, such as a script's configuration; None
            for a SavedModel.
    """

    tokenizer: FullTokenizer
    max_seq_length: int = 128
    predict_batch_size: int = 32
    export: ExportConfig | None = None

    def create_packing(self) -> PackingLayer:
        """Returns the layer that packs texts."""
        return PackingLayer(self.tokenizer.layer, self.max_seq_length)


def text_signature(*names: str) -> list[tf.TensorSpec]:
    """Returns the specs of inputs that are texts, string [N] each."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def trace_once(
    function: Callable[..., Features], options: ExportConfig | None
) -> Callable[..., Features]:
    """Has the signatures of a SavedModel call one graph of the network.

    Otherwise each would hold the network again. A file of another format holds
    one signature, of shapes that may be known.

    Args:
        function: (*tensors or dicts of them) -> dict of outputs.
        options: format of the export; None for a SavedModel.
    """
    if options and options.export_format != "saved_model":
        return function
    traced = tf.function(function, autograph=False)

    def call(*inputs: Any) -> Features:
        specs = tf.nest.map_structure(
            lambda x: tf.TensorSpec([None] * x.shape.rank, x.dtype), inputs
        )
        return traced.get_concrete_function(*specs)(*inputs)

    return call


def serve_ids(
    function: Callable[[Features], Features],
    config: BertConfig,
    options: ExportConfig | None,
    num_dimensions: int = 2,
) -> tuple[Callable[..., Features], list[tf.TensorSpec]]:
    """Returns the endpoint over the original's inputs.

    In a SavedModel it refuses numbers that mean nothing to the model, for
    which a lookup would give some other row, or none.

    Args:
        function: (dict of int32 [B, F]: input_ids, input_mask, segment_ids)
            -> dict of outputs.
        config: of the model.
        options: format of the export; None for a SavedModel.
        num_dimensions: 2, or 3 for inputs int32 [B, C, F], C the choices.
    """
    sizes = (config.vocab_size, 2, config.type_vocab_size)

    def serve(
        input_ids: tf.Tensor, input_mask: tf.Tensor, segment_ids: tf.Tensor
    ) -> Features:
        values = (input_ids, input_mask, segment_ids)
        features = dict(zip(export.INPUT_NAMES, values, strict=True))
        checks = []
        if not options or options.export_format == "saved_model":
            checks = [*map(_check_range, features, values, sizes)]
        with tf.control_dependencies(checks):
            return function(
                {name: tf.identity(value) for name, value in features.items()}
            )

    shape = [None] * num_dimensions
    return serve, [
        tf.TensorSpec(shape, tf.int32, name=name) for name in export.INPUT_NAMES
    ]


def _check_range(name: str, values: tf.Tensor, size: int) -> Any:
    """Returns an operation that refuses numbers that are not in [0, size)."""
    lowest, highest = tf.reduce_min(values), tf.reduce_max(values)
    return tf.debugging.Assert(
        (lowest >= 0) & (highest < size),
        [
            f"{name} must be from 0 to {size - 1}. Received: lowest, highest:",
            lowest,
            highest,
        ],
    )


def export_model(
    export_dir: str | os.PathLike[str],
    model: keras.Model,
    endpoints: Endpoints,
    tokenizer: FullTokenizer | None,
    options: ExportConfig | None,
    label_list: Sequence[str] | None = None,
) -> None:
    """Writes an export with the files that belong to the model.

    Args:
        export_dir: folder to write, whole or not at all.
        model: a task's model.
        endpoints: the signatures.
        tokenizer: FullTokenizer of the model, or None.
        options: format of the export; None for a SavedModel.
        label_list: the model's labels in order, or None.
    """
    files = {"bert_config.json": model.config.to_json_string()}
    if label_list:
        files["labels.txt"] = "".join(f"{label}\n" for label in label_list)
    export.export_saved_model(
        export_dir, model, endpoints, files, options, tokenizer
    )


def trim(features: Features) -> Features:
    """Cuts the padding that all rows share; outputs change only by rounding."""
    return trim_padding(features, multiple=1)


def pack_rows(
    packing: PackingLayer,
    tokens: Sequence[tf.RaggedTensor],
    begin: tf.Tensor,
    end: tf.Tensor,
) -> Features:
    """Returns the features of a few tokenized texts, or of a few pairs."""
    return trim(packing.pack(*(rows(some, begin, end) for some in tokens)))


def call_in_batches(
    function: Callable[[tf.Tensor, tf.Tensor], Features],
    num_rows: tf.Tensor,
    batch_size: int,
    specs: dict[str, tf.TensorSpec],
) -> Features:
    """Calls a function on a few rows at a time, to limit its memory.

    Args:
        function: (begin, end) -> outputs of these rows.
        num_rows: int32, number of rows.
        batch_size: maximum rows at a time.
        specs: of the function's outputs; the first dimension is None.

    Returns:
        the outputs of all calls, joined along the first dimension.
    """
    # At least one batch, so empty input keeps its shape.
    num_batches = tf.maximum(-(-num_rows // batch_size), 1)

    def call(
        index: tf.Tensor, arrays: dict[str, tf.TensorArray]
    ) -> tuple[tf.Tensor, dict[str, tf.TensorArray]]:
        begin = index * batch_size
        outputs = function(begin, tf.minimum(begin + batch_size, num_rows))
        return index + 1, {
            name: array.write(index, outputs[name])
            for name, array in arrays.items()
        }

    _, arrays = tf.while_loop(
        lambda index, _: index < num_batches,
        call,
        (
            0,
            {
                name: tf.TensorArray(
                    spec.dtype,
                    num_batches,
                    infer_shape=False,
                    element_shape=spec.shape,
                )
                for name, spec in specs.items()
            },
        ),
        parallel_iterations=1,
    )
    return {name: array.concat() for name, array in arrays.items()}


def to_padded(rows: dict[str, tf.RaggedTensor], width: int = 1) -> Features:
    """Returns outputs of ragged length as tensors, padded to the longest row.

    REST has no ragged outputs. Long rows next to many short ones would fill
    the memory with padding: such requests are refused.

    Args:
        rows: ragged tensors of the same row lengths, [N, None, ...].
        width: values in each cell.

    Returns:
        {name: tensor [N, M, ...]}, padded with "" or 0.

    Raises:
        tf.errors.InvalidArgumentError: nearly all of the result is padding.
    """
    lengths = next(iter(rows.values())).row_lengths()
    check = check_padding(lengths, _MAX_PADDING // width)
    with tf.control_dependencies([check]):
        return {
            name: tf.identity(values.to_tensor())
            for name, values in rows.items()
        }


def check_padding(lengths: tf.Tensor, max_cells: int) -> Any:
    """Returns an operation that refuses rows that are nearly all padding.

    Args:
        lengths: int [N], of the rows that will be padded to the longest.
        max_cells: number of cells, padding too, that are never refused.
    """
    lengths = tf.cast(lengths, tf.int64)
    longest = tf.reduce_max(tf.concat([lengths, [0]], 0))
    num_rows = tf.size(lengths, tf.int64)
    return tf.debugging.Assert(
        num_rows * longest <= tf.maximum(4 * tf.reduce_sum(lengths), max_cells),
        [
            "The lengths of the texts differ too much for one request; send "
            "the long ones by themselves. Received: texts, longest:",
            num_rows,
            longest,
        ],
    )
