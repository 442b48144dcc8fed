"""The page of a classifier's predictions, as a browser would read it."""

import numpy as np
import pytest

from data.classification import report
from data.classification.decoding import LabelDecoder
from data.classification.examples import InputExample
from data.io import html_report
from tests.data.report_page import ReportPage


def write(tmp_path, mode, names, label_ids, outputs, text_b=None):
    path = tmp_path / "report.html"
    label_ids, outputs = np.array(label_ids), np.array(outputs, np.float32)
    examples = [
        InputExample(f"dev-{i}", f"text {i} <b>", text_b, "x")
        for i in range(len(outputs))
    ]
    decoder = LabelDecoder(mode, names)
    report.write_report(path, examples, label_ids, outputs, decoder)
    return ReportPage(path.read_text(encoding="utf-8"))


def test_labels(tmp_path):
    # Right, wrong by a little, wrong by far, right.
    label_ids, outputs = [0, 0, 0, 1], [[2, 0], [0, 1], [0, 9], [0, 3]]
    args = ("classification", ["<no>", "yes"], label_ids, outputs)
    page = write(tmp_path, *args, "second & \ud800")
    assert "2 of 4 labels are right: accuracy 0.5." in page.text
    confusion, scores, calibration, *entries = page.tables
    assert confusion[0] == ["", "<no>", "yes"]
    assert confusion[1:] == [["<no>", "1", "2"], ["yes", "0", "1"]]
    assert scores[1:] == [
        ["<no>", "1", "0.3333", "0.5", "3", "1"],
        ["yes", "0.3333", "1", "0.5", "1", "3"],
    ]
    # softmax of 1: 0.731, of 2: 0.881, of 3: 0.953, of 9: 1.0
    assert calibration[1:] == [
        ["0.7 to 0.8", "1", "0.7311", "0"],
        ["0.8 to 0.9", "1", "0.8808", "1"],
        ["0.9 to 1.0", "2", "0.9762", "0.5"],
    ]
    expected = 0.7311 / 4 + (1 - 0.8808) / 4 + 0.4762 / 2
    found = float(page.text.split("calibration error: ")[1].split(".<")[0][:6])
    assert found == pytest.approx(expected, abs=1e-3)
    # The most confident error first.
    assert [one[0] for one in page.details] == ["text 2 <b>", "text 1 <b>"]
    assert page.details[0][1] == "second & ?"
    assert "right: <no>, predicted: yes (1.000)" in page.details[0]
    assert len(entries) == 2


def test_many_labels(tmp_path):
    label_ids, outputs = [[1, 0], [1, 1], [0, 0]], [[5, -5], [5, -1], [9, -9]]
    page = write(tmp_path, "multilabel", ["a", "b"], label_ids, outputs)
    assert "All labels of 1 of 3 examples are right." in page.text
    assert page.tables[0][1:] == [
        ["a", "0.6667", "1", "0.8", "2", "3"],
        ["b", "0", "0", "0", "1", "0"],
    ]
    assert [one[0] for one in page.details] == ["text 2 <b>", "text 1 <b>"]
    assert "right: none; predicted: a" in page.details[0]
    assert "right: a, b; predicted: a" in page.details[1]


def test_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(html_report, "MAX_EXAMPLES", 2)
    outputs = [[1.5], [0.0], [5.0]]
    page = write(tmp_path, "regression", None, [1.0, 2.0, 5.0], outputs)
    assert "the mean absolute error is 0.8333" in page.text
    assert page.num_circles == 2
    assert "The largest errors first (2 of 3 are shown)" in page.text
    assert [one[0] for one in page.details] == ["text 1 <b>", "text 0 <b>"]


@pytest.mark.parametrize("num_finite", [0, 1])
@pytest.mark.parametrize(
    "mode, names, label",
    [
        ("regression", None, 1.0),
        ("classification", ["a", "b"], 1),
        ("multilabel", ["a", "b"], [0, 1]),
    ],
)
def test_outputs_that_are_not_finite_are_said(
    tmp_path, mode, names, label, num_finite
):
    outputs = np.full([3, len(names or [""])], np.nan)
    outputs[:num_finite] = 3.0
    page = write(tmp_path, mode, names, [label] * 3, outputs)
    assert (
        f"{3 - num_finite} examples are skipped, because the model's outputs "
        "for them are not finite." in page.text
    )
    assert "nan" not in page.text
    assert len(page.details) == num_finite
