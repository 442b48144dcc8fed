"""Ragged tensors in a graph."""

import itertools

import tensorflow as tf

from data.text import ragged


def test_rows_are_those_of_a_slice():
    values = tf.ragged.constant([[1, 2], [], [3], [4, 5, 6], []])
    for begin, end in itertools.combinations_with_replacement(range(6), 2):
        found = ragged.rows(values, begin, end)
        assert found.to_list() == values[begin:end].to_list()
        # No value of other rows is left over.
        assert found.flat_values.shape[0] == found.row_splits[-1]
