"""Runs the network on a few rows at a time, in the graph of a signature.

The graphs of a SavedModel split large requests into small batches of rows. A
row contains the data of one text, or of one window of a text.

B = number of inputs that the network runs on at a time, T = length of an input
in WordPieces, with padding, N = number of texts or rows, M = length of the
longest row.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import tensorflow as tf

from data.padding import trim_batch
from data.text.packing_graph import PackingLayer
from exporting.signatures import Tensors

# If a padded output contains more values than this, at least a quarter of the
# values must not be padding.
_MAX_PADDING = 1 << 20
# A dict of tensors, or a TypedDict of them.
_MappingT = TypeVar("_MappingT", bound=Mapping[str, object])


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
