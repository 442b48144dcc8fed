"""Processes ragged tensors in memory proportional to their number of values.

This module avoids `tf.repeat` and `RaggedTensor.value_rowids`, which pad every
row to the longest row. For one long word and many short words, they need memory
for (number of words) x (length of the longest word). It also avoids
`tf.math.bincount`, which copies its bins for each processor.
"""

import tensorflow as tf


def row_ids(row_splits: tf.Tensor, num_values: tf.Tensor) -> tf.Tensor:
    """Returns the index of the row that contains each value, [num_values].

    The result's dtype is the dtype of `row_splits`.

    Examples:
        Of these three rows, the second row is empty:

        >>> row_ids(tf.constant([0, 2, 2, 3]), tf.constant(3)).numpy().tolist()
        [0, 0, 2]

    Args:
        row_splits: int [number of rows + 1], index of each row's first value,
            then the number of values.
        num_values: int, the last element of `row_splits`.
    """
    ends = row_splits[1:]
    num_ends = tf.math.unsorted_segment_sum(
        tf.ones_like(ends, tf.int32), ends, num_values + 1
    )
    return tf.cast(tf.cumsum(num_ends)[:num_values], ends.dtype)


def with_row_splits(
    values: tf.Tensor, row_splits: tf.Tensor
) -> tf.RaggedTensor:
    """Creates a ragged tensor. Does not check `row_splits`, to save time."""
    return tf.RaggedTensor.from_row_splits(
        values, tf.cast(row_splits, tf.int64), validate=False
    )


def true_indices(condition: tf.Tensor) -> tf.Tensor:
    """Returns the indices, int32, at which `condition`, bool [C], is true.

    Examples:
        >>> true_indices(tf.constant([True, False, True])).numpy().tolist()
        [0, 2]
    """
    # Cast to int32, which needs half the memory of the int64 of tf.where.
    return tf.cast(tf.reshape(tf.where(condition), [-1]), tf.int32)
