"""The page of right and wrong labels, as a browser would read it."""

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.label_codec import LabelCodec
from data.classification.label_report import write_label_report
from data.predictions import report
from model_folders.scores import Scores
from tests.support.report_page import ReportPage

HEADING = report.create_heading("<b>NER</b>", "topics.csv", Scores({"f1": 0.9}))
HOSTILE = "</b></style><script>x</script>&{{ 1 + 1 }}\"'"


def read_page(path):
    return ReportPage(path.read_text(encoding="utf-8"))


def write_report(tmp_path, tokenizer, mode, names, labels, outputs):
    """Returns the page of a report of these labels and outputs."""
    text_b = f"a b {HOSTILE}\ud800"
    examples = [
        InputExample(f"dev-{i}", f"text {i}", text_b, label)
        for i, label in enumerate(labels)
    ]
    path = tmp_path / "report.html"
    codec = LabelCodec(mode, names)
    outputs = np.array(outputs, np.float32)
    # Each text has two WordPieces of its own, and [CLS] or [SEP].
    write_label_report(
        path,
        HEADING,
        examples=examples,
        outputs=outputs,
        codec=codec,
        tokenizer=tokenizer,
        max_seq_length=7,
    )
    return read_page(path)


@pytest.fixture
def page(tmp_path, tokenizer):
    """A report of two wrong and two right labels."""
    return write_report(
        tmp_path,
        tokenizer,
        "classification",
        [HOSTILE, "yes"],
        [HOSTILE, HOSTILE, HOSTILE, "yes"],
        [[4, 0], [0, 1], [0, 9], [0, 3]],
    )


def test_each_label_is_counted_by_what_was_predicted(page):
    assert page.headings == [HEADING.title, "Counts", "Wrong: 2", "Right: 2"]
    assert page.rows == [
        ["", "support", f"as {HOSTILE}", "as yes"],
        [HOSTILE, "3", "1", "2"],
        ["yes", "1", "0", "1"],
    ]


def test_the_most_confident_wrong_label_comes_first(page):
    assert [text[0][1][:6] for _, text in page.wrong] == ["text 2", "text 1"]
    assert page.names[:2] == ["dev-2", "dev-1"]


def test_a_wrong_label_is_beside_the_right_one(page):
    assert page.wrong[0][0] == f"Right: {HOSTILE}. Predicted: yes (1.000)."


def test_the_end_of_a_text_that_the_model_does_not_read_is_marked(page):
    # The least certain right label is the first.
    read, rest = page.right[1][1]
    assert (read, rest[0]) == (("", "text 0 | a b"), "unread")


def test_several_labels_of_a_text_are_counted_one_by_one(tmp_path, tokenizer):
    labels = [["a"], ["a", "b"], []]
    outputs = [[5, -5], [5, -1], [9, -9]]
    args = "multilabel", ["a", "b"], labels, outputs
    page = write_report(tmp_path, tokenizer, *args)
    assert page.rows == [
        ["", "support", "missed", "right", "wrong"],
        ["a", "2", "0", "2", "1"],
        ["b (never predicted)", "1", "1", "0", "0"],
    ]
    assert [verdict for verdict, _ in page.wrong] == [
        "Right: none. Predicted: a.",
        "Right: a, b. Predicted: a.",
    ]


def test_a_score_is_beside_its_baseline_and_interval(tmp_path, tokenizer):
    outputs = [[4, 0], [0, 1], [0, 9], [0, 3]]
    labels = [HOSTILE, HOSTILE, HOSTILE, "yes"]
    args = "classification", [HOSTILE, "yes"], labels, outputs
    page = write_report(tmp_path, tokenizer, *args)
    assert "Right: 2 of 4 = 0.500, 95% interval 0.150 to 0.850" in page.text
    assert f"Always {HOSTILE}: 0.75." in page.text


def test_the_baseline_of_several_labels_is_the_most_frequent_set(
    tmp_path, tokenizer
):
    labels = [["b", "a"], ["a", "b"], []]
    outputs = [[5, 5], [5, -1], [9, -9]]
    args = "multilabel", ["a", "b"], labels, outputs
    page = write_report(tmp_path, tokenizer, *args)
    assert "Right: 1 of 3" in page.text
    assert "Always a, b: 0.67." in page.text


def test_the_report_of_a_regression_compares_with_the_mean(tmp_path, tokenizer):
    args = "regression", None, ["1", "2", "6"], [[1.0], [3.0], [4.0]]
    page = write_report(tmp_path, tokenizer, *args)
    assert "Mean error: 1. Always 3, the mean: 2." in page.text
    assert "Right:" not in page.text.split("Largest errors")[0]


def test_an_example_without_a_label_is_named(tmp_path, tokenizer):
    args = "classification", ["no", "yes"], ["no", None], [[4, 0], [0, 1]]
    with pytest.raises(ValueError, match="dev-1"):
        write_report(tmp_path, tokenizer, *args)
