"""The page of right and wrong answers, as a browser would read it."""

import json

from data.squad import report
from tests.data.report_page import ReportPage

CONTEXT = "Cats <b> & dogs ran. Cats & mice ran too."


def write_report(tmp_path, predictions, **kwargs):
    right = {
        "q1": [("dogs", 11), ("& dogs ran", 9)],
        "q2": [("mice", 28)],
        "q3": [],
        "q4": [("mice", 28)],
    }
    qas = [
        {
            "id": qas_id,
            "question": f"{qas_id} <i>?",
            "answers": [{"text": t, "answer_start": s} for t, s in answers],
        }
        for qas_id, answers in right.items()
    ]
    content = {"data": [{"paragraphs": [{"context": CONTEXT, "qas": qas}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(content))
    output = tmp_path / "report.html"
    report.write_report(output, tmp_path / "dev.json", predictions, **kwargs)
    return ReportPage(output.read_text(encoding="utf-8"))


def passage(question):
    return [part for part in question if part[0] not in ("b", "summary")]


def test_questions_worst_first_with_their_passages(tmp_path):
    page = write_report(
        tmp_path,
        {"q1": "dogs ran. Cats", "q2": "Cats", "q3": ""},
        version_2_with_negative=True,
    )
    q2, q1, q3 = page.pieces
    assert ("b", "q2 <i>?") in q2
    assert "1 of 3 answers are exactly right." in page.text
    assert "Wrong (2)" in page.text and "Right (1)" in page.text
    # Of the two cats the first.
    assert passage(q2) == [
        ("predicted", "Cats"),
        ("p", CONTEXT[4:28]),
        ("right", "mice"),
        ("p", CONTEXT[32:]),
    ]
    assert passage(q1) == [
        ("p", "Cats <b> "),
        ("right", "& "),
        ("both", "dogs"),
        ("both", " ran"),
        ("predicted", ". Cats"),
        ("p", CONTEXT[25:]),
    ]
    assert any("no answer" in text for _, text in q3)
    assert passage(q3) == [("p", CONTEXT)]


def test_a_prediction_stands_where_it_counts(tmp_path):
    page = write_report(tmp_path, {"q1": "ran"})
    ((*_, both, after),) = map(passage, page.pieces)
    assert both == ("both", "ran")
    assert after == ("p", CONTEXT[19:])


def test_odd_answers_do_not_cost_the_report(tmp_path):
    """Nothing of what a model was asked is lost for a bad gold answer."""
    qas = [
        {
            "id": f"q{i}",
            "question": "who \ud800?",
            "answers": [{"text": "Cats", "answer_start": start}],
        }
        for i, start in enumerate((None, "7", -3, True, 10**30))
    ]
    qas.append({"id": "q9", "question": "left out?", "answers": []})
    content = {"data": [{"paragraphs": [{"context": CONTEXT, "qas": qas}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(content))
    output = tmp_path / "report.html"
    predictions = {qa["id"]: "Cats" for qa in qas}
    report.write_report(output, tmp_path / "dev.json", predictions)
    page = ReportPage(output.read_text(encoding="utf-8"))
    assert len(page.pieces) == 5
    assert ("b", "who ??") in page.pieces[0]
