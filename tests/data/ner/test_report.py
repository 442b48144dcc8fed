"""The page of named entities, as a browser would read it."""

from data.ner import reading, report
from tests.data.report_page import ReportPage

WORDS = ["Anna", "<b>", "of", "New", "York", "&", "Rome"]
RIGHT = ["B-PER", "O", "O", "B-LOC", "I-LOC", "O", "B-LOC"]


def test_errors_by_kind():
    entities = [("PER", 0, 1), ("LOC", 3, 5), ("LOC", 6, 7)]

    def kinds(*guesses):
        return sorted(report.find_errors(entities, guesses))

    assert kinds(*entities) == []
    for kind, guess in (
        ("type", ("ORG", 3, 5)),
        ("words", ("LOC", 3, 4)),
        ("both", ("ORG", 4, 6)),
    ):
        assert kinds(entities[0], guess, entities[2]) == [(kind, guess)]
    assert kinds(("MISC", 1, 2), *entities[1:]) == [
        ("invented", ("MISC", 1, 2)),
        ("missed", ("PER", 0, 1)),
    ]


def test_page(tmp_path):
    found = ["B-PER", "O", "O", "B-LOC", "O", "O", "O"]
    path = tmp_path / "report.html"
    examples = [
        reading.NerExample("1", WORDS, RIGHT, 0),
        reading.NerExample("2", ["ok"], ["O"], 0),
    ]
    report.write_report(path, examples, [found, ["O"]])
    page = ReportPage(path.read_text(encoding="utf-8"))
    # Found 2, 1 of them right, of 3.
    assert "2 sentences: F1 0.4, precision 0.5, recall 0.3333." in page.text
    types, kinds = page.tables
    assert types[1:] == [["LOC", "0", "0", "0"], ["PER", "1", "1", "1"]]
    counts = {row[0].partition(":")[0]: row[1:] for row in kinds[1:]}
    assert counts["words"] == ["1", "0", "1"]
    assert counts["missed"] == ["1", "0", "1"]
    assert counts["invented"] == ["0", "0", "0"]
    (spans,) = page.spans
    anna = [("both", "Anna"), ("both", "PER")]
    assert [(css, text) for css, text in spans if text] == [
        *(*anna, ("right", "New York"), ("right", "LOC")),
        *(("right", "Rome"), ("right", "LOC")),
        *(*anna, ("wrong", "New"), ("wrong", "LOC")),
    ]
    assert "<b>" in page.text and "2 errors" in page.text
