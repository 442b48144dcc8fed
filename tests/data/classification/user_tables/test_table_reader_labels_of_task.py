"""Which labels a task has by its tables and flags, and what is warned of them.

test_table_reader_label_cells.py reads the labels of rows.
"""

import json

import numpy as np
import pytest

from tests.support.tables.labeled_tables import (
    create_processor,
    labels_of,
    write_train_set,
)


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
