"""Labels from the outputs of a classifier, and the numbers of labels."""

import numpy as np
import pytest

from data.classification.label_codec import (
    CosineCodec,
    LabelCodec,
    pool_batches,
)


@pytest.mark.parametrize(
    ("output_mode", "names", "outputs", "label"),
    [
        ("classification", ["x", "y"], [1, 2], "y"),
        ("multilabel", ["x", "y"], [1, 2], ["x", "y"]),
        # The probability is 0.5, which is not above 0.5.
        ("multilabel", ["x", "y"], [0, -1], []),
        ("regression", None, [2.5], 2.5),
    ],
)
def test_outputs_become_a_label(output_mode, names, outputs, label):
    codec = LabelCodec(output_mode, names)
    assert codec.decode_labels(np.array([outputs], np.float32)) == [label]


@pytest.mark.parametrize(
    ("output_mode", "names", "labels", "numbers"),
    [
        ("classification", ["x", "y"], ["y", "x"], [1, 0]),
        ("multilabel", ["x", "y"], [["y"], []], [[0, 1], [0, 0]]),
        ("regression", None, ["2.5", -1.0], [2.5, -1.0]),
    ],
)
def test_labels_become_numbers(output_mode, names, labels, numbers):
    codec = LabelCodec(output_mode, names)
    assert codec.encode_labels(labels).tolist() == numbers


def test_batches_of_windows_become_one_of_texts():
    rows = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    every = {
        "input_ids": np.array([[1, 2]] * 5),
        "label_ids": np.array([7, 7, 8, 8, 8]),
        "is_real_example": np.ones(5, int),
    }
    batches = [
        ({name: values[part] for name, values in every.items()}, rows[part])
        for part in (slice(0, 3), slice(3, 5))
    ]
    ((pooled, logits),) = pool_batches(batches, [0, 2])
    assert {name: values.tolist() for name, values in pooled.items()} == {
        "label_ids": [7, 8],
        "is_real_example": [1, 1],
    }
    np.testing.assert_array_equal(logits, [[1, 2], [6, 7]])


def test_the_label_of_a_pair_is_the_cosine_of_its_vectors():
    vectors = np.array([[[1.0, 0.0], [0.6, 0.8]], [[0.0, 1.0], [0.0, 1.0]]])
    codec = CosineCodec()
    assert codec.decode_labels(vectors) == pytest.approx([0.6, 1.0])
    assert codec.compute_values(vectors).shape == (2, 1)
