"""Batches that are cut to their longest input."""

import numpy as np
import pytest
import tensorflow as tf

from data.padding import trim_batch


@pytest.mark.parametrize("choices", [(), (2,)])
def test_a_batch_is_cut_to_its_longest_sequence(choices):
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
    cut = trim_batch(features)
    expected = {"input_ids": ids[..., :32], "input_mask": mask[..., :32]}
    for name, values in (expected | {"label_ids": [1, 2, 3]}).items():
        np.testing.assert_array_equal(cut[name], values)


@pytest.mark.parametrize(("value", "length"), [(0, 1), (1, 21)])
def test_the_cut_leaves_something_and_never_adds(value, length):
    names = ["input_ids", "input_mask", "segment_ids"]
    features = dict.fromkeys(names, tf.fill([2, 21], value))
    cut = trim_batch(features)
    assert cut["input_ids"].shape == (2, length)
