"""The labels in the cells of tables, as programs and people write them.

test_label_notations.py reads single cells.
"""

import json

import numpy as np
import pytest

from tests.support.tables.labeled_tables import (
    create_processor,
    labels_of,
    read_examples,
    write_train_set,
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


@pytest.mark.parametrize("mode", ["classification", "multilabel"])
def test_a_label_may_be_only_in_the_dev_set_of_one_file(tmp_path, mode):
    rows = [(f"row {number}", str(number % 2)) for number in range(60)]
    rows += [(f"row {number}", f"odd{number}") for number in range(16)]
    path = tmp_path / "a.jsonl"
    lines = (
        json.dumps({"text": text, "label": [label]}) for text, label in rows
    )
    path.write_text("\n".join(lines))
    processor = create_processor(path, data_file=str(path), output_mode=mode)
    assert processor.sets.read_labels() == sorted({label for _, label in rows})
    labels_of_dev = np.ravel(
        [example.label for example in processor.sets.read("dev")]
    )
    assert any(label.startswith("odd") for label in labels_of_dev)


@pytest.mark.parametrize("name", ["dev", "test"])
def test_the_train_set_is_read_before_the_others(tmp_path, name):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / f"{name}.csv").write_text("text,label\na,x\nb,z\n")
    with pytest.raises(ValueError, match=r"unknown label 'z'.*are x, y"):
        create_processor(tmp_path).sets.read(name)


def test_a_regression_has_no_labels_even_if_a_flag_names_some(tmp_path):
    options = {"output_mode": "regression", "labels": ["low", "high"]}
    assert create_processor(tmp_path, **options).sets.read_labels() is None


def test_without_a_folder_and_a_flag_no_labels_are_known():
    """An export of a model whose outputs have no names has neither."""
    with pytest.raises(ValueError, match="Set --data_dir or --labels"):
        create_processor(None).sets.read_labels()


def test_a_train_set_that_tells_no_labels_is_named(tmp_path):
    sets = write_train_set(tmp_path, "text,label\na,x\n")
    with pytest.raises(ValueError, match=r"Received 1: \['x'\]"):
        sets.read_labels()


def test_labels_that_look_the_same_are_one_label(tmp_path):
    text = "text,label\na,boats\nb,boats\u200b\nc,inns\n"
    assert write_train_set(tmp_path, text).read_labels() == ["boats", "inns"]


# A text with two labels.
SEPARATED_LABELS = "text,label\na,x|y\nb,x\nc,y\nd,z\n"


def test_labels_are_split_at_the_separator(tmp_path):
    options = {"output_mode": "multilabel", "label_separator": "|"}
    sets = write_train_set(tmp_path, SEPARATED_LABELS, **options)
    assert sets.read_labels() == ["x", "y", "z"]


def test_labels_with_another_separator_are_warned_of(tmp_path, caplog):
    options = {"output_mode": "multilabel"}
    write_train_set(tmp_path, SEPARATED_LABELS, **options).read_labels()
    assert "'x|y'" in caplog.text
    assert "--label_separator" in caplog.text


def test_what_is_strange_about_labels_is_logged_once(tmp_path, caplog):
    options = {"output_mode": "multilabel"}
    sets = write_train_set(tmp_path, SEPARATED_LABELS, **options)
    assert sets.read_labels() == sets.read_labels()
    assert caplog.text.count("'x|y'") == 1


def test_nothing_is_logged_of_the_labels_of_a_flag(tmp_path, caplog):
    options = {"output_mode": "multilabel", "labels": ["x|y", "x", "y", "z"]}
    sets = write_train_set(tmp_path, SEPARATED_LABELS, **options)
    assert sets.read_labels() == ["x|y", "x", "y", "z"]
    assert not caplog.messages


def test_a_label_that_may_be_misspelled_is_named(tmp_path, caplog):
    labels = [*["billing", "cars"] * 20, "biling"]
    rows = (f"t{number},{label}\n" for number, label in enumerate(labels))
    text = "text,label\n" + "".join(rows)
    write_train_set(tmp_path, text).read_labels()
    assert "misspelled: 'biling' (1), like 'billing' (20)" in caplog.text


COLUMN_OF_EACH_LABEL = "text,toxic,insult,threat\na,0,1,0\nb,1,1,0\nc,0,0,0\n"


THREE_COLUMNS = {"label_column": "toxic,insult,threat"}


def test_each_label_may_have_a_column(tmp_path):
    text = COLUMN_OF_EACH_LABEL
    actual = labels_of(tmp_path, "train.csv", text, **THREE_COLUMNS)
    assert actual == [["insult"], ["toxic", "insult"], []]


def test_columns_of_labels_name_the_labels_in_order(tmp_path):
    (tmp_path / "train.csv").write_text(COLUMN_OF_EACH_LABEL)
    processor = create_processor(tmp_path, **THREE_COLUMNS)
    assert processor.sets.read_labels() == ["toxic", "insult", "threat"]
    assert processor.output_mode == "multilabel"


def test_a_test_set_may_lack_the_columns_of_labels(tmp_path):
    actual = labels_of(tmp_path, "test.csv", "text\na\n", **THREE_COLUMNS)
    assert actual == [None]
