"""Labels from a classifier's outputs, arrays that data/arrays.py names."""

import numpy as np
import pytest

from data.classification.label_codec import LabelCodec


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
