"""What report.html of any task shows, and the numbers on it."""

import pytest

from data.predictions.report import (
    Baseline,
    JudgedPrediction,
    Report,
    create_heading,
    list_outcomes,
    wilson_interval,
)
from data.text.characters import CharacterSpan
from model_folders.scores import Scores
from tests.support.report_page import ReportPage


@pytest.mark.parametrize(
    ("num_right", "num_examples", "expected"),
    [
        # Wilson's, as statsmodels' proportion_confint computes it.
        (117, 120, (0.9291, 0.9915)),
        (0, 10, (0.0, 0.2775)),
        (10, 10, (0.7225, 1.0)),
        (1, 1, (0.2065, 1.0)),
    ],
)
def test_the_interval_is_wilsons(num_right, num_examples, expected):
    interval = wilson_interval(num_right, num_examples)
    assert interval == pytest.approx(expected, abs=1e-4)


def test_answers_are_right_wrong_or_missed():
    outcomes = list_outcomes(gold=["a", "b"], predicted=["c", "a", "c"])
    assert outcomes == [("wrong", "c"), ("right", "a"), ("missed", "b")]


def test_the_title_names_the_task_and_the_file():
    heading = create_heading("SQuAD", "folder/dev.json/", Scores({"f1": 0.5}))
    assert heading.title == "SQuAD: dev.json"


def test_a_text_is_cut_where_marks_begin_and_end():
    marks = {
        "right": [CharacterSpan(2, 6)],
        "predicted": [CharacterSpan(4, 8)],
    }
    prediction = JudgedPrediction(1.0, "", "a boat left", 0, marks)
    assert [*prediction.pieces()] == [
        ("", "a "),
        ("right", "bo"),
        ("right predicted", "at"),
        ("predicted", " l"),
        ("", "eft"),
    ]


def test_a_shortened_text_ends_within_a_mark():
    marks = {"right": [CharacterSpan(2, 6)]}
    prediction = JudgedPrediction(1.0, "", "a boat", 0, marks)
    assert [*prediction.pieces(length=3)] == [("", "a "), ("right", "b")]


@pytest.fixture
def page(tmp_path):
    """The page of two wrong predictions, a right one, and a baseline."""
    heading = create_heading("NER", "dev.txt", Scores({"f1": 0.5}))
    report = Report(heading, baseline=Baseline("none", 0.25))
    report.counts.update([("PER", "support"), ("PER", "right")])
    for badness, name in [(0.5, "bad"), (-0.9, "good"), (0.75, "worst")]:
        text = f"text of {name}"
        verdict = f"{name}."
        report.judged.append(
            JudgedPrediction(badness, verdict, text, name, marks={})
        )
    report.write(tmp_path / "report.html")
    return ReportPage((tmp_path / "report.html").read_text("utf-8"))


def test_the_worst_prediction_comes_first(page):
    assert page.names == ["worst", "bad", "good"]
    assert page.headings[1:] == ["Counts", "Wrong: 2", "Right: 1"]


def test_the_share_of_right_predictions_is_beside_the_baseline(page):
    assert "Right: 1 of 3 = 0.333" in page.text
    assert "Always none: 0.25." in page.text


def test_the_table_counts_each_outcome_of_a_label(page):
    assert page.rows == [["", "support", "right"], ["PER", "1", "1"]]
