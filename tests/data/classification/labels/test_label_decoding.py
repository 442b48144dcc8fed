"""Predictions in files, from the arrays that data/arrays.py names."""

import json

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.labels import label_decoding
from data.classification.labels.label_decoding import LabelDecoder

CLASSES = LabelDecoder("classification", ["no", "yes"])
REGRESSION = LabelDecoder("regression", None)


def write_predicted_labels(folder, entries, outputs, decoder=CLASSES):
    return label_decoding.write_labels(
        folder, entries, np.array(outputs, np.float32), decoder
    )


def test_half_of_a_surrogate_pair_is_kept(tmp_path):
    entries = [{"text_a": "a\ud800\u4e2d"}]
    assert write_predicted_labels(tmp_path, entries, [[0, 1]]) == ["yes"]
    line = json.loads((tmp_path / "predictions.jsonl").read_bytes())
    assert line["text_a"] == "a\ud800\u4e2d"
    # The order of several labels in the table does not matter.
    example = InputExample(0, "a", None, ["y", "x"], {"text": "a\ud800"})
    decoder = LabelDecoder("multilabel", ["x", "y"])
    outputs = np.array([[3.0, 3.0]])
    (row,) = label_decoding.create_prediction_rows([example], outputs, decoder)
    answer = {"label": "x,y", "probability": "0.952574", "correct": True}
    assert row == {"text": "a\ud800"} | answer


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("decoder", [CLASSES, REGRESSION])
def test_outputs_that_are_not_finite_leave_no_file(tmp_path, decoder, value):
    outputs = [[0.0] * decoder.num_outputs, [value] * decoder.num_outputs]
    with pytest.raises(ValueError, match="are not JSON compliant"):
        write_predicted_labels(
            tmp_path, [{"guid": 0}, {"guid": 1}], outputs, decoder
        )
    assert not list(tmp_path.iterdir())


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
    ((pooled, logits),) = label_decoding.pool_batches(batches, [0, 2])
    assert {name: values.tolist() for name, values in pooled.items()} == {
        "label_ids": [7, 8],
        "is_real_example": [1, 1],
    }
    np.testing.assert_array_equal(logits, [[1, 2], [6, 7]])
