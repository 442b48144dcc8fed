"""Reading requests one by one: CSV, long lines, answers that are not JSON."""

import io

import pytest

import predict
from serving import requests


@pytest.mark.parametrize(
    "first, message",
    [
        (b"text," + b"a" * (requests.MAX_LINE_BYTES + 1), "not CSV: field"),
        (b"text,text", "named twice"),
    ],
)
def test_a_csv_without_columns_is_refused(first, message):
    with pytest.raises(ValueError, match=f"^line 1: .*{message}"):
        list(requests.read_csv(io.BytesIO(first + b"\nx,y\n")))


class Damaged:
    """A task whose model has weights that are not finite for some texts."""

    name = "classify"

    def check(self, item):
        pass

    def compute(self, items):
        return items

    def reply(self, item, row):
        return {"score": float(row["text"])}


def test_an_answer_that_is_not_finite_is_an_error_of_its_line():
    batch = [
        (number, {"id": number, "text": text})
        for number, text in enumerate(["1.5", "nan", "-inf", "2"], start=1)
    ]
    written = []
    counts = predict.write_answers(Damaged(), [batch], written.extend)
    assert counts == (2, 2)
    assert [answer.get("score") for answer in written] == [1.5, None, None, 2]
    for number in (2, 3):
        answer = written[number - 1]
        assert answer["id"] == answer["line"] == number
        assert "the answer would hold NaN or an infinity" in answer["error"]


def test_a_line_too_long_to_hold_is_passed_over(monkeypatch):
    monkeypatch.setattr(requests, "MAX_LINE_BYTES", 16)
    lines = io.BytesIO(b'{"a": 1}\n' + b'"' + b"x" * 40 + b'"\n{"a": 2}')
    found = [item for _, item in requests.read_json_lines(lines)]
    assert found[::2] == [{"a": 1}, {"a": 2}]
    assert "the line has more than" in str(found[1])
