"""Computes with ragged tensors in memory proportional to their values.

TensorFlow's `tf.repeat` and `RaggedTensor.value_rowids` pad every row to the
longest row. A text of one long word and many short words would need memory for
words x longest word. `tf.math.bincount` copies its bins for each processor. Use
the functions of this module instead.
"""

import tensorflow as tf


def row_ids(row_splits: tf.Tensor, num_values: tf.Tensor) -> tf.Tensor:
    """Returns the row of each value, [num_values], in `row_splits`'s dtype.

    Args:
        row_splits: int [rows + 1], index of the first value of each row, and
            the number of values.
        num_values: int, the last element of `row_splits`.
    """
    ends = row_splits[1:]
    begun = tf.math.unsorted_segment_sum(
        tf.ones_like(ends, tf.int32), ends, num_values + 1
    )
    return tf.cast(tf.cumsum(begun)[:num_values], ends.dtype)


def with_row_splits(
    values: tf.Tensor, row_splits: tf.Tensor
) -> tf.RaggedTensor:
    """Returns a ragged tensor of values, without checking `row_splits`."""
    return tf.RaggedTensor.from_row_splits(
        values, tf.cast(row_splits, tf.int64), validate=False
    )


def rows(
    values: tf.RaggedTensor, begin: int | tf.Tensor, end: int | tf.Tensor
) -> tf.RaggedTensor:
    """Returns the rows `begin` to `end` - 1.

    Equals `values[begin:end]`, but needs half as many operations.

    Args:
        values: ragged [rows, None].
        begin: int32, in [0, rows].
        end: int32, in [begin, rows].
    """
    row_splits = values.row_splits[begin : end + 1]
    first, last = row_splits[0], row_splits[-1]
    return with_row_splits(values.flat_values[first:last], row_splits - first)


def where(condition: tf.Tensor) -> tf.Tensor:
    """Returns the indices, int32, at which a condition, bool [C], is true."""
    # int32 needs half the memory of the result of tf.where.
    return tf.cast(tf.where(condition)[:, 0], tf.int32)
