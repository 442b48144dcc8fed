"""The labels in the cells of tables, as programs and people write them.

test_label_notations.py reads single cells.
"""

import json

import pytest

from tests.support.tables.labeled_tables import (
    create_processor,
    labels_of,
    read_examples,
)

MULTILABEL = {"output_mode": "multilabel"}


@pytest.mark.parametrize(
    ("name", "text", "options", "labels"),
    [
        (
            "train.csv",
            "text,label\na,x|y\nb,\nc,z\n",
            MULTILABEL | {"label_separator": "|"},
            [["x", "y"], [], ["z"]],
        ),
        (
            "train.jsonl",
            [{"text": "a", "label": ["z", "x"]}, {"text": "b", "label": []}],
            MULTILABEL,
            [["z", "x"], []],
        ),
        (
            "dev.csv",
            "text,score\na,1.5\nb,-2\n",
            {"label_column": "score", "output_mode": "regression"},
            [1.5, -2.0],
        ),
        # A spreadsheet quotes cells that contain a list or a small table.
        (
            "train.tsv",
            'text\tlabel\n"1.\tto\tgo\n2.\tto\tstay"\tyes\nc\tno\n',
            {},
            ["yes", "no"],
        ),
        # Label Studio writes one label as it is, and several as choices.
        (
            "train.csv",
            'text,label\na,"{""choices"": [""boats"", ""film""]}"\nb,film\n',
            MULTILABEL,
            [["boats", "film"], ["film"]],
        ),
        # doccano writes a list, pandas True and 1.0, JSON true and 1.
        (
            "train.jsonl",
            [
                {"text": "a", "label": label}
                for label in (["pos"], "neg", True, 1.0)
            ],
            {},
            ["pos", "neg", "true", "1"],
        ),
        (
            "dev.csv",
            "text,label\na,True\nb,1.0\nc,1\nd,1.50\n",
            {"labels": ["True", "1", "1.50"]},
            ["true", "1", "1", "1.50"],
        ),
    ],
)
def test_a_label_is_read_as_each_tool_writes_it(
    tmp_path, name, text, options, labels
):
    assert labels_of(tmp_path, name, text, **options) == labels


@pytest.mark.parametrize(
    "cells",
    [
        ["[0 1 0]", "[1 0 1]"],
        ["[0.0, 1.0]", "[1.0, 0.0]"],
        [[0, 1], [1, 0]],
        ["1,0", "0,1"],
        ["1 0 0", "0 0 1"],
        ["[0. 1.]", "[1. 1.]"],
    ],
)
def test_vectors_instead_of_labels_are_refused(tmp_path, cells):
    rows = [{"text": "a", "label": cell} for cell in cells]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match="not a 0 or 1 for each label"):
        create_processor(tmp_path, **MULTILABEL).sets.read_labels()


def test_a_list_that_cannot_be_read_is_named_by_its_line(tmp_path):
    rows = [{"text": "a", "label": "x"}, {"text": "b", "label": "[x y]"}]
    with pytest.raises(ValueError, match="line 2, column 'label'"):
        read_examples(tmp_path, "train.jsonl", rows, **MULTILABEL)


def test_a_label_of_the_task_may_look_like_a_list(tmp_path):
    text = "text,label\na,[URGENT]\nb,later\n"
    options = {"labels": ["[URGENT]", "later"]}
    assert labels_of(tmp_path, "dev.csv", text, **options)[0] == "[URGENT]"


def test_an_empty_cell_is_an_empty_list_of_labels(tmp_path):
    text = "text,label\na,x\nb,\nc, \n"
    actual = labels_of(tmp_path, "train.csv", text, **MULTILABEL)
    assert actual == [["x"], [], []]


def test_null_is_not_a_label_but_an_empty_list_is(tmp_path):
    rows = [{"text": "a", "label": label} for label in (["x"], [], "", None)]
    options = MULTILABEL | {"labels": ["x"]}
    actual = labels_of(tmp_path, "dev.jsonl", rows, **options)
    assert actual == [["x"], [], []]


def test_a_row_with_an_empty_cell_of_several_labels_is_left_out(tmp_path):
    text = "text,x,y\na,0,1\nb,,1\n"
    actual = labels_of(tmp_path, "dev.csv", text, label_column="x,y")
    assert actual == [["y"]]


REGRESSION = {"output_mode": "regression"}
NUMBERS = "text,label\na,1.5\nb,\nc, \n"


def test_a_row_without_a_number_is_left_out(tmp_path):
    assert labels_of(tmp_path, "dev.csv", NUMBERS, **REGRESSION) == [1.5]


def test_a_word_among_numbers_is_named_with_its_line(tmp_path):
    with pytest.raises(ValueError, match=r"line 5.*'high'"):
        read_examples(tmp_path, "dev.csv", f"{NUMBERS}d,high\n", **REGRESSION)


@pytest.mark.parametrize(
    ("mode", "label"),
    [
        ("classification", "{}"),
        ("multilabel", "7"),
        ("multilabel", "[0, 1, 1]"),
        ("regression", '"nan"'),
        ("regression", '"1_000"'),
    ],
)
def test_a_bad_label_is_named_by_its_line_and_column(tmp_path, mode, label):
    text = f'{{"text": "a", "label": {label}}}'
    with pytest.raises(ValueError, match="line 1, column 'label'"):
        read_examples(
            tmp_path, "dev.jsonl", text, labels=["x", "y"], output_mode=mode
        )


def test_a_regression_is_trained_on_numbers_whatever_labels_flags_name(
    tmp_path,
):
    options = {"output_mode": "regression", "labels": ["low", "high"]}
    text = "text,label\na,1.5\n"
    assert labels_of(tmp_path, "train.csv", text, **options) == [1.5]


def test_labels_of_a_test_set_are_kept(tmp_path):
    options = {"labels": ["w", "x"]}
    text = "label,text\nw,a\n,b\n"
    assert read_examples(tmp_path, "test.csv", text, **options) == [
        ("test-1", "a", None, "w"),
        ("test-2", "b", None, None),
    ]


def test_several_labels_of_a_test_set_are_kept(tmp_path):
    rows = [
        {"text": "a", "label": ["x"]},
        {"text": "b", "label": []},
        {"text": "c", "label": None},
        {"text": "d"},
    ]
    options = {"labels": ["w", "x"], "output_mode": "multilabel"}
    assert read_examples(tmp_path, "test.jsonl", rows, **options) == [
        ("test-1", "a", None, ["x"]),
        ("test-2", "b", None, []),
        ("test-3", "c", None, None),
        ("test-4", "d", None, None),
    ]
