"""The files of a run's predictions: two for each test set, a table for rows."""

import csv
import json

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.label_codec import LabelCodec
from training.task import EncodedSet
from training.tasks import prediction_files

CODEC = LabelCodec("classification", ["no", "yes"])
# The probabilities of a row are 1/4 and 3/4, or the reverse.
OUTPUTS = np.log(np.array([[1, 3], [3, 1]], np.float32))
PREDICTED = ["yes", "no"]


def create_set(*rows, name="test"):
    """Returns a test set of examples that are rows of a table, or none."""
    examples = [
        InputExample(guid, text, label="no", row=row)
        for guid, (text, row) in enumerate(
            zip(("A boat.", "The sea."), rows, strict=True)
        )
    ]
    return EncodedSet(name, None, 2, 2, 0, examples)


@pytest.fixture
def table():
    """A test set that is a user's table."""
    return create_set({"body": "A boat."}, {"body": "The sea."})


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def test_a_table_has_the_answers_beside_its_rows(tmp_path, table):
    path = tmp_path / "rows.csv"
    prediction_files.write_table_rows(str(path), table.examples, OUTPUTS, CODEC)
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
    examples = create_set(None, None).examples
    prediction_files.write_table_rows(
        str(tmp_path / "rows.csv"), examples, OUTPUTS, CODEC
    )
    assert [*tmp_path.iterdir()] == []


def write_predictions(folder, encoded_set):
    """Writes the predictions of a test set. Returns the names of the files."""
    labels = prediction_files.write_test_predictions(
        encoded_set, OUTPUTS, CODEC, str(folder)
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
    encoded_set = create_set(None, None, name="test_mm")
    assert write_predictions(tmp_path, encoded_set) == {
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


def test_an_output_that_is_no_number_is_refused(tmp_path, table):
    outputs = np.full_like(OUTPUTS, np.nan)
    with pytest.raises(ValueError, match="JSON"):
        prediction_files.write_test_predictions(
            table, outputs, CODEC, str(tmp_path)
        )
    assert not (tmp_path / "predictions.jsonl").exists()
