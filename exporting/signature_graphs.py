"""The signatures of an export, and what their TensorFlow graphs share.

The graphs of a SavedModel split large requests into small batches of rows. A
row contains the data of one text, or of one window of a text.

B = number of inputs that the network runs on at a time, F = length of an input
in WordPieces, with padding, N = number of texts or rows, M = length of the
longest row.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar, TypeVarTuple, cast

import tensorflow as tf

from data.padding import trim_batch
from data.text.packing_graph import PackingLayer
from exporting import export_formats
from model_folders.model_json import HeadSettings
from model_folders.output_modes import CLASSIFICATION
from modeling import ops

# If a padded output contains more values than this, at least a quarter of the
# values must not be padding.
_MAX_PADDING = 1 << 20

Tensors: TypeAlias = dict[str, tf.Tensor]
OutputsT = TypeVar("OutputsT")
InputsT = TypeVarTuple("InputsT")
# A dict of tensors, or a TypedDict of them.
_MappingT = TypeVar("_MappingT", bound=Mapping[str, object])

# Function from the features of a batch, int32 [B, F] each, to outputs of the
# network. Multiple choice has features [B, C, F] of C choices.
PredictFeatures: TypeAlias = Callable[[Tensors], Tensors]


class Signature(NamedTuple):
    """A signature of an export: a function that a SavedModel contains.

    Attributes:
        function: function from tensors to {name of an output: tensor}.
        inputs: the specs of the function's arguments.
    """

    function: Callable[..., Tensors]
    inputs: Sequence[tf.TensorSpec]


# {name of a signature: Signature}
Signatures: TypeAlias = dict[str, Signature]


@dataclasses.dataclass(frozen=True)
class ExportSignatures:
    """The signatures of a model's export, and the settings that they need.

    Attributes:
        predict: function of the signature `ids`, which all formats contain.
        text_signatures: the signatures that accept text, the main one first. {}
            if the export accepts only ids.
        head_settings: settings of the head, to record in the export's
            model.json.
        exported_output: what `ids` computes from the logits (see
            export_formats.py).
    """

    predict: PredictFeatures
    text_signatures: Signatures = dataclasses.field(default_factory=dict)
    head_settings: HeadSettings = dataclasses.field(
        default_factory=HeadSettings
    )
    exported_output: export_formats.ExportedOutput = CLASSIFICATION


def text_inputs(*names: str) -> list[tf.TensorSpec]:
    """Returns a TensorSpec, string [N], for each name of a text input."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def share_graph(
    function: Callable[[*InputsT], OutputsT],
) -> Callable[[*InputsT], OutputsT]:
    """Wraps a function, so that all signatures call the same traced graph.

    Otherwise each signature of a SavedModel would contain its own copy of the
    graph. The function converts tensors, or dicts of tensors, to tensors.
    """
    traced = tf.function(function, autograph=False)

    def call(*inputs: *InputsT) -> OutputsT:
        if ops.uses_plain_versions():
            # An export for LiteRT contains only one signature, so it contains
            # only one copy of the graph.
            return function(*inputs)
        specs = tf.nest.map_structure(
            lambda tensor: tf.TensorSpec(
                [None] * tensor.shape.rank, tensor.dtype
            ),
            inputs,
        )
        outputs: OutputsT = traced.get_concrete_function(*specs)(*inputs)
        return outputs

    return call


def pack_rows(
    packing: PackingLayer,
    tokens: Sequence[tf.RaggedTensor],
    start: tf.Tensor,
    end: tf.Tensor,
) -> Tensors:
    """Packs texts `start` to `end` - 1 into the features of one batch.

    `tokens` contains the WordPieces of all texts, or for pairs, those of all
    first texts and those of all second texts.
    """
    packed = packing.pack(*(texts[start:end] for texts in tokens))
    return trim_batch(packed, multiple=1)


def call_in_batches(
    function: Callable[[tf.Tensor, tf.Tensor], _MappingT],
    num_rows: tf.Tensor,
    batch_size: int,
) -> _MappingT:
    """Calls a function on a few rows at a time, to save memory.

    `function` (start, end) returns the outputs for the rows from `start` to
    `end` - 1. These numbers and `num_rows` are int32 scalars.

    Returns the outputs of all calls, joined along the first dimension.
    """
    row_index = tf.TensorSpec([], tf.int32)
    traced = tf.function(function, autograph=False)
    call = traced.get_concrete_function(row_index, row_index)
    # Call the function even if there are no rows, to get the outputs' shapes.
    num_batches = tf.maximum(-(-num_rows // batch_size), 1)

    def call_next(
        index: tf.Tensor, arrays: dict[str, tf.TensorArray]
    ) -> tuple[tf.Tensor, dict[str, tf.TensorArray]]:
        start = index * batch_size
        outputs = call(start, tf.minimum(start + batch_size, num_rows))
        return index + 1, {
            name: array.write(index, outputs[name])
            for name, array in arrays.items()
        }

    _, arrays = tf.while_loop(
        lambda index, _: index < num_batches,
        call_next,
        (0, _create_batch_arrays(call.structured_outputs, num_batches)),
        parallel_iterations=1,
    )
    joined = {name: array.concat() for name, array in arrays.items()}
    # `joined` contains the same names as the outputs of one batch.
    return cast(_MappingT, joined)


def _create_batch_arrays(
    specs: Mapping[str, tf.TensorSpec], num_batches: tf.Tensor
) -> dict[str, tf.TensorArray]:
    """Returns empty arrays for the outputs of each batch.

    `specs` contains the dtype and the shape of each output.
    """
    return {
        name: tf.TensorArray(
            spec.dtype,
            num_batches,
            infer_shape=False,
            element_shape=[None, *spec.shape[1:]],
        )
        for name, spec in specs.items()
    }


def to_padded(rows: dict[str, tf.RaggedTensor], width: int = 1) -> Tensors:
    """Converts ragged outputs to tensors, padded to the longest row.

    TensorFlow Serving's REST API supports no ragged outputs. A request with one
    long row and many short rows fails, because its padding would fill the
    memory.

    Args:
        rows: {name: ragged tensor [N, None, ...]}. Row i is of the same length
            in all tensors.
        width: number of values at each position of a row.

    Returns:
        {name: tensor [N, M, ...]}, padded with "" or 0.

    Raises:
        tf.errors.InvalidArgumentError: nearly all of the result is padding.
    """
    lengths = next(iter(rows.values())).row_lengths()
    fits = assert_little_padding(lengths, _MAX_PADDING // width)
    with tf.control_dependencies([fits]):
        return {
            name: tf.identity(values.to_tensor())
            for name, values in rows.items()
        }


def assert_little_padding(
    lengths: tf.Tensor, max_cells: int = _MAX_PADDING
) -> tf.Operation:
    """Returns an operation that fails if padded rows are mostly padding.

    Args:
        lengths: lengths of the rows that will be padded, int [N].
        max_cells: number of positions in all padded rows that is always
            allowed. More positions are allowed only if at least a quarter of
            them is not padding.
    """
    lengths = tf.cast(lengths, tf.int64)
    longest = tf.reduce_max(tf.concat([lengths, [0]], 0))
    num_rows = tf.size(lengths, tf.int64)
    return assert_true(
        num_rows * longest <= tf.maximum(4 * tf.reduce_sum(lengths), max_cells),
        "The lengths of the texts differ too much for one request; send long "
        "texts separately. Received: number of texts, longest length:",
        num_rows,
        longest,
    )


def assert_true(condition: tf.Tensor, *data: tf.Tensor | str) -> tf.Operation:
    """Returns an operation that fails, and prints `data`, if not `condition`.

    Tracing this operation is faster than tracing tf.debugging.Assert, which
    traces a graph for each of the two cases.
    """
    return tf.raw_ops.Assert(condition=condition, data=data, summarize=3)
