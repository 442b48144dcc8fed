"""Batches whose padding is trimmed."""

import numpy as np
import pytest
import tensorflow as tf

from data.padding import trim_padding


@pytest.mark.parametrize("choices", [(), (2,)])
def test_trim_padding_cuts_to_the_longest_sequence(choices):
    mask = np.zeros((3, *choices, 60), np.int32)
    mask[0, ..., :2] = 1
    mask[2, ..., :20] = 1
    ids = np.arange(mask.size, dtype=np.int32).reshape(mask.shape)
    features = {
        "input_ids": tf.constant(ids),
        "input_mask": tf.constant(mask),
        "segment_ids": tf.constant(mask),
        "label_ids": tf.constant([1, 2, 3]),
    }
    trimmed = trim_padding(features)
    expected = {"input_ids": ids[..., :32], "input_mask": mask[..., :32]}
    for name, values in (expected | {"label_ids": [1, 2, 3]}).items():
        np.testing.assert_array_equal(trimmed[name], values)


@pytest.mark.parametrize(("value", "length"), [(0, 1), (1, 21)])
def test_trim_padding_leaves_something_and_never_adds(value, length):
    names = ["input_ids", "input_mask", "segment_ids"]
    features = dict.fromkeys(names, tf.fill([2, 21], value))
    trimmed = trim_padding(features)
    assert trimmed["input_ids"].shape == (2, length)
