"""The page of right and wrong answers, as a browser would read it."""

import html.parser
import json

from data.squad import report

CONTEXT = "Cats <b> & dogs ran. Cats & mice ran too."


class Page(html.parser.HTMLParser):
    """Collects the text, by the class of the innermost span."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.questions = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("br", "meta"):
            self.open.append(dict(attributes).get("class", tag))
        if tag == "details":
            self.questions.append([])
        assert not {"src", "href"} & dict(attributes).keys()

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, text):
        if self.questions and "details" in self.open:
            self.questions[-1].append((self.open[-1], text))
        self.seen.append(text)


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
    return Page(output.read_text(encoding="utf-8"))


def passage(question):
    return [part for part in question if part[0] not in ("b", "summary")]


def test_questions_worst_first_with_their_passages(tmp_path):
    page = write_report(
        tmp_path,
        {"q1": "dogs ran. Cats", "q2": "Cats", "q3": ""},
        version_2_with_negative=True,
    )
    q2, q1, q3 = page.questions
    assert ("b", "q2 <i>?") in q2
    assert "1 of 3 answers are exactly right." in page.seen
    assert "Wrong (2)" in page.seen and "Right (1)" in page.seen
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
    ((*_, both, after),) = map(passage, page.questions)
    assert both == ("both", "ran")
    assert after == ("p", CONTEXT[19:])


def test_long_reports_are_cut(tmp_path):
    page = write_report(tmp_path, {"q2": "x", "q4": "y"}, max_questions=1)
    assert len(page.questions) == 1
    assert "Wrong (1 of 2 are shown)" in page.seen


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
    page = Page(output.read_text(encoding="utf-8"))
    assert len(page.questions) == 5
    assert ("b", "who ??") in page.questions[0]
