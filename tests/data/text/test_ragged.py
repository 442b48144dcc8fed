"""Ragged tensors in memory proportional to their values."""

import pytest
import tensorflow as tf

from data.text.ragged import row_ids, true_indices, with_row_splits


@pytest.mark.parametrize(
    ("splits", "ids"),
    [
        ([0, 2, 2, 3], [0, 0, 2]),
        ([0, 0, 0, 1], [2]),
        ([0, 3], [0, 0, 0]),
        ([0, 0], []),
    ],
)
def test_each_value_has_the_index_of_its_row(splits, ids):
    rows = row_ids(tf.constant(splits, tf.int64), len(ids))
    assert rows.dtype == tf.int64
    assert rows.numpy().tolist() == ids


def test_splits_cut_values_into_rows():
    ragged = with_row_splits(tf.constant([5, 6, 7]), tf.constant([0, 2, 2, 3]))
    assert ragged.to_list() == [[5, 6], [], [7]]
    assert ragged.row_splits.dtype == tf.int64


def test_true_indices_are_int32():
    indices = true_indices(tf.constant([True, False, True]))
    assert indices.dtype == tf.int32
    assert indices.numpy().tolist() == [0, 2]
