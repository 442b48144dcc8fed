"""Reports of the answers to SQuAD's questions."""

import re

import pytest

from data.predictions import report
from data.squad.answer_report import write_answer_report
from data.squad.squad_questions import read_squad_file
from model_folders.scores import Scores
from tests.support.report_page import ReportPage
from tests.support.squad.squad_passages import write_squad

HEADING = report.create_heading("<b>SQuAD</b>", "dev.json", Scores({"f1": 0.9}))
HOSTILE = "</b></style><script>x</script>&{{ 1 + 1 }}\"'"


def read_page(path):
    return ReportPage(path.read_text(encoding="utf-8"))


@pytest.fixture
def page(tmp_path):
    """A report of a wrong, a missed and two right answers."""
    context = f"Cats {HOSTILE} dogs ran. Cats too."
    dogs = context.index("dogs")
    questions = [
        [(dogs, "dogs"), (dogs, "dogs ran")],
        [(0, "Cats")],
        [(None, "Cats"), (10**30, "Cats")],
        [],
    ]
    path = write_squad(tmp_path / "dev.json", questions, context)
    predictions = {"q0": "ran. Cats", "q1": "Cats", "q2": "", "q3": ""}
    output = tmp_path / "report.html"
    write_answer_report(
        output, HEADING, read_squad_file(path), predictions, True
    )
    return read_page(output)


def test_right_wrong_and_missed_answers_are_counted(page):
    assert page.rows == [
        ["", "support", "missed", "right", "wrong"],
        ["answers", "4", "1", "2", "1"],
    ]


def test_a_wrong_answer_is_beside_the_right_ones(page):
    (missed, _), (verdict, _) = page.wrong
    assert "Right: Cats. Predicted: none." in missed
    assert "Right: dogs | dogs ran. Predicted: ran. Cats." in verdict


def test_answers_are_marked_in_their_passage(page):
    _, (_, text) = page.wrong
    assert text == [
        ("", f"Cats {HOSTILE} "),
        ("right", "dogs"),
        ("right", " "),
        ("right predicted", "ran"),
        ("predicted", ". Cats"),
        ("", " too."),
    ]
    assert page.right[0][1][0] == ("right predicted", "Cats")


@pytest.mark.parametrize(
    ("is_v2", "baselines"), [(True, ["Always no answer: 0.50."]), (False, [])]
)
def test_only_in_v2_no_answer_is_the_baseline(tmp_path, is_v2, baselines):
    path = write_squad(tmp_path / "dev.json", [[(0, "Cats")], []], "Cats ran.")
    predictions = {"q0": "Cats", "q1": "ran"}
    output = tmp_path / "report.html"
    file = read_squad_file(path)
    write_answer_report(output, HEADING, file, predictions, is_v2)
    text = read_page(output).text
    assert re.findall(r"Always [^:]+: [\d.]+", text) == baselines
