"""The page of right and wrong answers, as a browser would read it."""

from data.squad import report
from tests.data.report_page import ReportPage
from tests.data.squad.squad_files import write_squad

CONTEXT = "Cats <b> & dogs ran. Cats & mice ran too."
MICE = {
    "question": "Who <i>?",
    "answers": [{"text": "mice", "answer_start": 28}],
}
QUESTIONS = [[(11, "dogs"), (9, "& dogs ran")], MICE, [], MICE]


def write_report(tmp_path, questions, predictions, **kwargs):
    path = write_squad(tmp_path / "dev.json", questions, CONTEXT)
    output = tmp_path / "report.html"
    report.write_report(output, path, predictions, **kwargs)
    return ReportPage(output.read_text(encoding="utf-8"))


def passage(question):
    return [part for part in question if part[0] not in ("b", "summary")]


def test_questions_worst_first_with_their_passages(tmp_path):
    predictions = {"q0": "dogs ran. Cats", "q1": "Cats", "q2": ""}
    page = write_report(
        tmp_path, QUESTIONS, predictions, version_2_with_negative=True
    )
    q1, q0, q2 = page.pieces
    assert ("b", "Who <i>?") in q1
    assert "1 of 3 answers are exactly right." in page.text
    assert "Wrong (2)" in page.text and "Right (1)" in page.text
    # Of the two cats the first.
    assert passage(q1) == [
        ("predicted", "Cats"),
        ("p", CONTEXT[4:28]),
        ("right", "mice"),
        ("p", CONTEXT[32:]),
    ]
    assert passage(q0) == [
        ("p", "Cats <b> "),
        ("right", "& "),
        ("both", "dogs"),
        ("both", " ran"),
        ("predicted", ". Cats"),
        ("p", CONTEXT[25:]),
    ]
    assert any("no answer" in text for _, text in q2)
    assert passage(q2) == [("p", CONTEXT)]


def test_a_prediction_stands_where_it_counts(tmp_path):
    page = write_report(tmp_path, QUESTIONS, {"q0": "ran"})
    ((*_, both, after),) = map(passage, page.pieces)
    assert both == ("both", "ran")
    assert after == ("p", CONTEXT[19:])


def test_odd_answers_do_not_cost_the_report(tmp_path):
    """Nothing of what a model was asked is lost for a bad gold answer."""
    questions = [[(at, "Cats")] for at in (None, "7", -3, True, 10**30)]
    questions.append({"question": "who \ud800?", "answers": [{"text": "Cats"}]})
    predictions = {f"q{number}": "Cats" for number in range(7)}
    page = write_report(tmp_path, [[], *questions], predictions)
    assert len(page.pieces) == 6
    assert ("b", "who ??") in page.pieces[-1]
