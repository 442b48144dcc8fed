"""The outputs of batches, joined to one row for each text."""

import numpy as np

from data.classification import text_outputs


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
    ((pooled, logits),) = text_outputs.pool_batches(batches, [0, 2])
    assert {name: values.tolist() for name, values in pooled.items()} == {
        "label_ids": [7, 8],
        "is_real_example": [1, 1],
    }
    np.testing.assert_array_equal(logits, [[1, 2], [6, 7]])
