"""An entry of a file of weights."""

import numpy as np

from model_folders.formats.weight_entries import WeightEntry, transposed


def test_a_transposed_entry_has_the_shape_of_its_value():
    value = np.arange(6, dtype="float32").reshape(2, 3)
    entry = transposed(WeightEntry(value.shape, "float32", lambda: value))
    assert entry.shape == (3, 2)
    np.testing.assert_array_equal(entry.read(), value.T)


def test_a_transposed_entry_is_not_read_before_it_is_asked_for():
    reads = []
    transposed(WeightEntry((2, 3), "float32", lambda: reads.append(1)))
    assert reads == []
