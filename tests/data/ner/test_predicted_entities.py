"""Files of predicted tags and entities, and reports of them."""

import json

import numpy as np
import pytest

from data.ner.ner_examples import NerExample
from data.ner.predicted_entities import (
    write_columns,
    write_entities,
    write_entity_report,
)
from data.predictions import report
from model_folders.scores import Scores
from tests.support.report_page import ReportPage

TEXT = "Anna Berg left  Oslo."
WORDS = ["Anna", "Berg", "left", "Oslo", "."]
RIGHT = ["B-PER", "I-PER", "O", "B-LOC", "O"]
PREDICTED = ["B-PER", "I-PER", "O", "O", "O"]
PROBABILITIES = np.array([0.9, 0.75, 1.0, 0.5, 1.0])
HEADING = report.create_heading("<b>NER</b>", "test.txt", Scores({"f1": 0.9}))
HOSTILE = "</b></style><script>x</script>&{{ 1 + 1 }}\"'"


def create_example(tags=RIGHT, text=TEXT, row=None):
    """Creates the example of the sentence."""
    return NerExample(
        "line 1", WORDS, tags, 0, text=text, row=row, guid="dev-1"
    )


@pytest.fixture
def write_entry(tmp_path):
    """(example, prefix) -> the object that `write_entities` writes."""

    def write_entry(example, tags=PREDICTED, prefix=""):
        path = tmp_path / "predictions.jsonl"
        write_entities(path, [example], [tags], [PROBABILITIES], prefix)
        (line,) = path.read_text("utf-8").splitlines()
        return json.loads(line)

    return write_entry


def test_a_line_of_columns_has_the_word_and_both_tags(tmp_path):
    write_columns(tmp_path / "a.txt", [create_example()], [PREDICTED])
    assert (tmp_path / "a.txt").read_text() == (
        "Anna B-PER B-PER\nBerg I-PER I-PER\nleft O O\nOslo B-LOC O\n. O O\n\n"
    )


def test_entities_have_places_in_the_text(write_entry):
    assert write_entry(create_example(), tags=RIGHT) == {
        "guid": "dev-1",
        "text": TEXT,
        "words": WORDS,
        "labels": RIGHT,
        "entities": [[0, 9, "PER"], [16, 20, "LOC"]],
        "probabilities": [0.75, 0.5],
        "correct": True,
    }


def test_a_missed_entity_is_not_correct(write_entry):
    assert write_entry(create_example())["correct"] is False


def test_without_right_tags_nothing_is_correct_or_wrong(write_entry):
    assert "correct" not in write_entry(create_example(tags=["O"] * 5))


def test_words_without_a_text_are_joined_by_spaces(write_entry):
    entry = write_entry(create_example(text=None), tags=RIGHT)
    assert entry["text"] == "Anna Berg left Oslo ."
    assert entry["entities"] == [[0, 9, "PER"], [15, 19, "LOC"]]


def test_the_fields_of_the_row_stay_beside_the_prediction(write_entry):
    example = create_example(row={"id": 7, "labels": ["gold"]})
    entry = write_entry(example, prefix="predicted_")
    assert entry["id"] == 7
    assert entry["labels"] == ["gold"]
    assert entry["predicted_labels"] == PREDICTED


def read_page(path):
    return ReportPage(path.read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path):
    """The report of two sentences: one wrong, and one without an entity."""
    words = ["Anna", HOSTILE, "of", "New", "York", "&", "Rome"]
    right = ["B-PER", "O", "O", "B-LOC", "I-LOC", "O", "B-LOC"]
    predicted = ["B-PER", "O", "O", "B-LOC", "O", "O", "O"]
    examples = [
        NerExample("1", words, right, 0),
        NerExample("2", ["ok"], ["O"], 0),
    ]
    path = tmp_path / "report.html"
    write_entity_report(path, HEADING, examples, [predicted, ["O"]])
    return read_page(path)


def test_the_table_of_a_report_counts_entities_of_each_kind(page):
    assert page.rows == [
        ["", "support", "missed", "right", "wrong"],
        ["LOC", "2", "2", "0", "1"],
        ["PER", "1", "0", "1", "0"],
    ]


def test_a_report_names_the_wrong_and_the_missed_entities(page):
    ((verdict, _),) = page.wrong
    assert verdict == (
        "wrong: New (LOC); missed: New York (LOC); missed: Rome (LOC)"
    )


def test_a_report_marks_the_entities_in_the_text(page):
    ((_, text),) = page.wrong
    assert [mark for mark in text if mark[0]] == [
        ("right predicted", "Anna"),
        ("right predicted", "New"),
        ("right", " York"),
        ("right", "Rome"),
    ]


def test_a_sentence_with_all_tags_right_is_right(page):
    assert [verdict for verdict, _ in page.right] == ["right"]


# What a report says of a baseline.
BASELINE = "Always no entity"


def test_no_entity_is_the_baseline(tmp_path):
    examples = [
        NerExample("1", ["ok"], ["O"], 0),
        NerExample("2", ["Rome"], ["B-LOC"], 0),
    ]
    path = tmp_path / "report.html"
    write_entity_report(path, HEADING, examples, [["O"], ["O"]])
    text = read_page(path).text
    assert "Right: 1 of 2" in text
    assert f"{BASELINE}: 0.50." in text


def test_a_report_of_no_sentence_has_no_baseline(tmp_path):
    path = tmp_path / "report.html"
    write_entity_report(path, HEADING, [], [])
    assert BASELINE not in read_page(path).text
