"""The files of predictions: for each test set, for rows, for GLUE's site."""

import csv
import json

import numpy as np
import pytest

from data.classification import prediction_files
from data.classification.classification_examples import InputExample
from data.classification.label_codec import LabelCodec

CLASSES = LabelCodec("classification", ["no", "yes"])
REGRESSION = LabelCodec("regression", None)
# The probabilities of a row are 1/4 and 3/4, or the reverse.
OUTPUTS = np.log(np.array([[1, 3], [3, 1]], np.float32))
PREDICTED = ["yes", "no"]


def create_examples(*rows):
    """Returns the examples of a test set, rows of a table or of none."""
    return [
        InputExample(guid, text, label="no", row=row)
        for guid, (text, row) in enumerate(
            zip(("A boat.", "The sea."), rows, strict=True)
        )
    ]


@pytest.fixture
def table():
    """A test set that is a user's table."""
    return create_examples({"body": "A boat."}, {"body": "The sea."})


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def test_a_table_has_the_answers_beside_its_rows(tmp_path, table):
    path = tmp_path / "rows.csv"
    prediction_files.write_table_rows(str(path), table, OUTPUTS, CLASSES)
    assert read_table(path) == [
        {
            "body": "A boat.",
            "label": "yes",
            "probability": "0.750000",
            "correct": "false",
        },
        {
            "body": "The sea.",
            "label": "no",
            "probability": "0.750000",
            "correct": "true",
        },
    ]


def test_examples_of_no_table_have_no_rows(tmp_path):
    examples = create_examples(None, None)
    prediction_files.write_table_rows(
        str(tmp_path / "rows.csv"), examples, OUTPUTS, CLASSES
    )
    assert [*tmp_path.iterdir()] == []


def write_predictions(folder, examples, suffix=""):
    """Writes the predictions of a test set. Returns the names of the files."""
    labels = prediction_files.write_test_predictions(
        str(folder), examples, OUTPUTS, CLASSES, suffix
    )
    assert labels == PREDICTED
    return {file.name for file in folder.iterdir()}


def test_a_test_set_of_rows_has_a_table_of_predictions(tmp_path, table):
    assert write_predictions(tmp_path, table) == {
        "predictions.csv",
        "predictions.jsonl",
        "test_results.tsv",
    }
    rows = read_table(tmp_path / "predictions.csv")
    assert [row["label"] for row in rows] == PREDICTED


def test_the_files_of_a_second_test_set_are_named_after_it(tmp_path):
    examples = create_examples(None, None)
    assert write_predictions(tmp_path, examples, "_mm") == {
        "predictions_mm.jsonl",
        "test_results_mm.tsv",
    }


def test_a_line_names_the_example_and_its_labels(tmp_path, table):
    write_predictions(tmp_path, table)
    lines = (tmp_path / "predictions.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert first.pop("probabilities") == pytest.approx(
        {"no": 0.25, "yes": 0.75}
    )
    assert first == {
        "guid": 0,
        "text_a": "A boat.",
        "gold_label": "no",
        "label": "yes",
    }


def test_an_output_that_is_not_a_number_is_refused(tmp_path, table):
    outputs = np.full_like(OUTPUTS, np.nan)
    with pytest.raises(ValueError, match="JSON"):
        prediction_files.write_test_predictions(
            str(tmp_path), table, outputs, CLASSES, ""
        )
    assert not (tmp_path / "predictions.jsonl").exists()


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
def test_infinite_outputs_leave_no_file(tmp_path, codec, value):
    outputs = [[0.0] * codec.num_outputs, [value] * codec.num_outputs]
    with pytest.raises(ValueError, match="are not JSON compliant"):
        write_predicted_labels(
            tmp_path, [{"guid": 0}, {"guid": 1}], outputs, codec
        )
    assert not list(tmp_path.iterdir())


def test_a_submission_names_the_label_of_each_example(tmp_path):
    path = tmp_path / "RTE.tsv"
    prediction_files.write_submission(path, ["entailment", "not_entailment"])
    expected = "index\tprediction\n0\tentailment\n1\tnot_entailment\n"
    assert path.read_text() == expected


def test_the_scores_of_a_submission_are_clipped_to_0_and_5(tmp_path):
    path = tmp_path / "STS-B.tsv"
    prediction_files.write_submission(path, [2.25, -0.1, 5.4])
    lines = path.read_text().splitlines()
    assert lines[1:] == ["0\t2.250", "1\t0.000", "2\t5.000"]
