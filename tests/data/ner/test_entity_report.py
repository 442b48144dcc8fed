"""Reports of named entities."""

from data import report
from data.ner.entity_report import write_entity_report
from data.ner.ner_example import NerExample
from tests.support.report_page import ReportPage

HEADING = report.create_heading("<b>NER</b>", "test.txt", {"f1": 0.9})
HOSTILE = "</b></style><script>x</script>&{{ 1 + 1 }}\"'"


def read_page(path):
    return ReportPage(path.read_text(encoding="utf-8"))


def test_entities_are_right_wrong_or_missed(tmp_path):
    words = ["Anna", HOSTILE, "of", "New", "York", "&", "Rome"]
    right = ["B-PER", "O", "O", "B-LOC", "I-LOC", "O", "B-LOC"]
    predicted = ["B-PER", "O", "O", "B-LOC", "O", "O", "O"]
    examples = [
        NerExample("1", words, right, 0),
        NerExample("2", ["ok"], ["O"], 0),
    ]
    path = tmp_path / "report.html"
    write_entity_report(path, HEADING, examples, [predicted, ["O"]])
    page = read_page(path)
    assert page.rows == [
        ["", "support", "missed", "right", "wrong"],
        ["LOC", "2", "2", "0", "1"],
        ["PER", "1", "0", "1", "0"],
    ]
    ((verdict, text),) = page.wrong
    assert (
        verdict
        == "wrong: New (LOC); missed: New York (LOC); missed: Rome (LOC)"
    )
    assert [mark for mark in text if mark[0]] == [
        ("right predicted", "Anna"),
        ("right predicted", "New"),
        ("right", " York"),
        ("right", "Rome"),
    ]
    assert [verdict for verdict, _ in page.right] == ["right"]


def test_no_entity_is_the_baseline(tmp_path):
    examples = [
        NerExample("1", ["ok"], ["O"], 0),
        NerExample("2", ["Rome"], ["B-LOC"], 0),
    ]
    path = tmp_path / "report.html"
    write_entity_report(path, HEADING, examples, [["O"], ["O"]])
    text = read_page(path).text
    assert "Right: 1 of 2" in text
    assert "Always no entity: 0.50." in text


def test_a_report_of_no_sentence_has_no_baseline(tmp_path):
    path = tmp_path / "report.html"
    write_entity_report(path, HEADING, [], [])
    assert "Always" not in read_page(path).text
