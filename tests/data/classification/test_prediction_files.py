"""Predictions in files and in the rows of a table."""

import json

import numpy as np
import pytest

from data.classification import prediction_files
from data.classification.classification_examples import InputExample
from data.classification.label_codec import LabelCodec

CLASSES = LabelCodec("classification", ["no", "yes"])
REGRESSION = LabelCodec("regression", None)


def write_predicted_labels(folder, entries, outputs, codec=CLASSES):
    return prediction_files.write_labels(
        folder, entries, np.array(outputs, np.float32), codec
    )


def test_half_of_a_surrogate_pair_is_kept(tmp_path):
    entries = [{"text_a": "a\ud800\u4e2d"}]
    assert write_predicted_labels(tmp_path, entries, [[0, 1]]) == ["yes"]
    line = json.loads((tmp_path / "predictions.jsonl").read_bytes())
    assert line["text_a"] == "a\ud800\u4e2d"
    # The order of several labels in the table does not matter.
    example = InputExample(0, "a", None, ["y", "x"], {"text": "a\ud800"})
    codec = LabelCodec("multilabel", ["x", "y"])
    outputs = np.array([[3.0, 3.0]])
    (row,) = prediction_files.create_prediction_rows([example], outputs, codec)
    answer = {"label": "x,y", "probability": "0.952574", "correct": True}
    assert row == {"text": "a\ud800"} | answer


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("codec", [CLASSES, REGRESSION])
def test_outputs_that_are_not_finite_leave_no_file(tmp_path, codec, value):
    outputs = [[0.0] * codec.num_outputs, [value] * codec.num_outputs]
    with pytest.raises(ValueError, match="are not JSON compliant"):
        write_predicted_labels(
            tmp_path, [{"guid": 0}, {"guid": 1}], outputs, codec
        )
    assert not list(tmp_path.iterdir())
