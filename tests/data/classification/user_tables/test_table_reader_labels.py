"""The labels in the cells of tables, and the labels of a task.

test_label_notations.py reads single cells, and test_table_labels.py tests the
warnings without a table.
"""

import json

import numpy as np
import pytest

from tests.support.tables.labeled_tables import open_tables


def test_a_separator_is_between_the_labels_of_a_row(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x|y\nb,x\nc,y\nd,z\n")
    sets = open_tables(
        tmp_path, output_mode="multilabel", label_separator="|"
    ).sets
    labels = [example.label for example in sets.read("train")]
    assert labels == [["x", "y"], ["x"], ["y"], ["z"]]
    assert sets.read_labels() == ["x", "y", "z"]


def test_the_labels_of_a_row_may_be_a_list_in_json(tmp_path):
    (tmp_path / "train.jsonl").write_text(
        '{"text": "a", "label": ["z", "x"]}\n{"text": "b", "label": []}\n'
    )
    processor = open_tables(tmp_path, output_mode="multilabel")
    labels = [example.label for example in processor.sets.read("train")]
    assert labels == [["z", "x"], []]


def test_the_labels_of_a_regression_are_numbers(tmp_path):
    (tmp_path / "dev.csv").write_text("text,score\na,1.5\nb,-2\n")
    processor = open_tables(
        tmp_path, label_column="score", output_mode="regression"
    )
    labels = [example.label for example in processor.sets.read("dev")]
    assert labels == [1.5, -2.0]


def test_a_quoted_text_may_contain_a_small_table(tmp_path):
    (tmp_path / "train.tsv").write_text(
        'text\tlabel\n"1.\tto\tgo\n2.\tto\tstay"\tyes\nc\tno\n'
    )
    examples = open_tables(tmp_path).sets.read("train")
    assert [example.label for example in examples] == ["yes", "no"]


def test_label_studio_writes_one_label_as_it_is_and_several_as_choices(
    tmp_path,
):
    (tmp_path / "train.csv").write_text(
        'text,label\na,"{""choices"": [""boats"", ""film""]}"\nb,film\n'
    )
    processor = open_tables(tmp_path, output_mode="multilabel")
    labels = [example.label for example in processor.sets.read("train")]
    assert labels == [["boats", "film"], ["film"]]


def test_a_label_in_json_may_be_a_list_of_one_a_truth_or_a_number(tmp_path):
    (tmp_path / "train.jsonl").write_text(
        '{"text": "a", "label": ["pos"]}\n'
        '{"text": "b", "label": "neg"}\n'
        '{"text": "c", "label": true}\n'
        '{"text": "d", "label": 1.0}\n'
    )
    examples = open_tables(tmp_path).sets.read("train")
    assert [example.label for example in examples] == [
        "pos",
        "neg",
        "true",
        "1",
    ]


def test_truths_and_numbers_of_pandas_are_the_labels_of_a_flag(tmp_path):
    (tmp_path / "dev.csv").write_text(
        "text,label\na,True\nb,1.0\nc,1\nd,1.50\n"
    )
    processor = open_tables(tmp_path, labels=["True", "1", "1.50"])
    labels = [example.label for example in processor.sets.read("dev")]
    assert labels == ["true", "1", "1", "1.50"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("[0 1 0]", "[1 0 1]"),
        ("[0.0, 1.0]", "[1.0, 0.0]"),
        ([0, 1], [1, 0]),
        ("1,0", "0,1"),
        ("1 0 0", "0 0 1"),
        ("[0. 1.]", "[1. 1.]"),
    ],
)
def test_vectors_instead_of_labels_are_refused(tmp_path, first, second):
    (tmp_path / "train.jsonl").write_text(
        f'{{"text": "a", "label": {json.dumps(first)}}}\n'
        f'{{"text": "b", "label": {json.dumps(second)}}}\n'
    )
    processor = open_tables(tmp_path, output_mode="multilabel")
    with pytest.raises(ValueError, match="not a 0 or 1 for each label"):
        processor.sets.read_labels()


def test_a_list_that_cannot_be_read_is_named_by_its_line(tmp_path):
    (tmp_path / "train.jsonl").write_text(
        '{"text": "a", "label": "x"}\n{"text": "b", "label": "[x y]"}\n'
    )
    processor = open_tables(tmp_path, output_mode="multilabel")
    with pytest.raises(ValueError, match="line 2, column 'label'"):
        processor.sets.read("train")


def test_a_label_of_the_task_may_look_like_a_list(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\na,[URGENT]\nb,later\n")
    processor = open_tables(tmp_path, labels=["[URGENT]", "later"])
    labels = [example.label for example in processor.sets.read("dev")]
    assert labels == ["[URGENT]", "later"]


def test_an_empty_cell_is_an_empty_list_of_labels(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,\nc, \n")
    processor = open_tables(tmp_path, output_mode="multilabel")
    labels = [example.label for example in processor.sets.read("train")]
    assert labels == [["x"], [], []]


def test_null_is_not_a_label_but_an_empty_list_is(tmp_path):
    (tmp_path / "dev.jsonl").write_text(
        '{"text": "a", "label": ["x"]}\n'
        '{"text": "b", "label": []}\n'
        '{"text": "c", "label": ""}\n'
        '{"text": "d", "label": null}\n'
    )
    processor = open_tables(tmp_path, output_mode="multilabel", labels=["x"])
    examples = processor.sets.read("dev")
    assert [(example.text_a, example.label) for example in examples] == [
        ("a", ["x"]),
        ("b", []),
        ("c", []),
    ]


def test_a_row_with_an_empty_cell_of_several_labels_is_left_out(tmp_path):
    (tmp_path / "dev.csv").write_text("text,x,y\na,0,1\nb,,1\n")
    (example,) = open_tables(tmp_path, label_column="x,y").sets.read("dev")
    assert (example.text_a, example.label) == ("a", ["y"])


def test_a_row_without_a_number_is_left_out(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\na,1.5\nb,\nc, \n")
    processor = open_tables(tmp_path, output_mode="regression")
    (example,) = processor.sets.read("dev")
    assert (example.text_a, example.label) == ("a", 1.5)


def test_a_word_among_numbers_is_named_with_its_line(tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\na,1.5\nb,\nd,high\n")
    processor = open_tables(tmp_path, output_mode="regression")
    with pytest.raises(ValueError, match=r"line 4.*'high'"):
        processor.sets.read("dev")


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
    (tmp_path / "dev.jsonl").write_text(f'{{"text": "a", "label": {label}}}')
    processor = open_tables(tmp_path, labels=["x", "y"], output_mode=mode)
    with pytest.raises(ValueError, match="line 1, column 'label'"):
        processor.sets.read("dev")


def test_a_regression_has_numbers_whatever_labels_a_flag_names(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,1.5\n")
    sets = open_tables(
        tmp_path, output_mode="regression", labels=["low", "high"]
    ).sets
    (example,) = sets.read("train")
    assert example.label == 1.5
    assert sets.read_labels() is None


def test_labels_of_a_test_set_are_kept(tmp_path):
    (tmp_path / "test.csv").write_text("label,text\nw,a\n,b\n")
    examples = open_tables(tmp_path, labels=["w", "x"]).sets.read("test")
    assert [example.label for example in examples] == ["w", None]


def test_several_labels_of_a_test_set_are_kept(tmp_path):
    (tmp_path / "test.jsonl").write_text(
        '{"text": "a", "label": ["x"]}\n'
        '{"text": "b", "label": []}\n'
        '{"text": "c", "label": null}\n'
        '{"text": "d"}\n'
    )
    processor = open_tables(
        tmp_path, labels=["w", "x"], output_mode="multilabel"
    )
    labels = [example.label for example in processor.sets.read("test")]
    assert labels == [["x"], [], None, None]


@pytest.mark.parametrize("mode", ["classification", "multilabel"])
def test_a_label_may_be_only_in_the_dev_set_of_one_file(tmp_path, mode):
    rows = [(f"row {number}", str(number % 2)) for number in range(60)]
    rows += [(f"row {number}", f"odd{number}") for number in range(16)]
    path = tmp_path / "a.jsonl"
    lines = (
        json.dumps({"text": text, "label": [label]}) for text, label in rows
    )
    path.write_text("\n".join(lines))
    sets = open_tables(None, data_file=path, output_mode=mode).sets
    assert sets.read_labels() == sorted({label for _, label in rows})
    labels_of_dev = np.ravel([example.label for example in sets.read("dev")])
    assert any(label.startswith("odd") for label in labels_of_dev)


@pytest.mark.parametrize("name", ["dev", "test"])
def test_the_train_set_is_read_before_the_others(tmp_path, name):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / f"{name}.csv").write_text("text,label\na,x\nb,z\n")
    with pytest.raises(ValueError, match=r"unknown label 'z'.*are x, y"):
        open_tables(tmp_path).sets.read(name)


def test_without_a_folder_and_a_flag_no_labels_are_known():
    """An export of a model whose outputs have no names has neither."""
    with pytest.raises(ValueError, match="Set --data_dir or --labels"):
        open_tables(None).sets.read_labels()


def test_a_train_set_of_one_label_is_an_error_that_shows_it(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\n")
    with pytest.raises(ValueError, match=r"Received 1: \['x'\]"):
        open_tables(tmp_path).sets.read_labels()


def test_labels_that_look_the_same_are_one_label(tmp_path):
    (tmp_path / "train.csv").write_text(
        "text,label\na,boats\nb,boats\u200b\nc,inns\n"
    )
    assert open_tables(tmp_path).sets.read_labels() == ["boats", "inns"]


def test_labels_with_another_separator_are_warned_of_once(tmp_path, caplog):
    (tmp_path / "train.csv").write_text("text,label\na,x|y\nb,x\nc,y\nd,z\n")
    sets = open_tables(tmp_path, output_mode="multilabel").sets
    assert sets.read_labels() == sets.read_labels() == ["x", "x|y", "y", "z"]
    (message,) = (text for text in caplog.messages if "'x|y'" in text)
    assert "--label_separator" in message


def test_nothing_is_logged_of_the_labels_of_a_flag(tmp_path, caplog):
    (tmp_path / "train.csv").write_text("text,label\na,x|y\nb,x\nc,y\nd,z\n")
    sets = open_tables(
        tmp_path, output_mode="multilabel", labels=["x|y", "x", "y", "z"]
    ).sets
    assert sets.read_labels() == ["x|y", "x", "y", "z"]
    assert not caplog.messages


def test_a_label_that_may_be_misspelled_is_named(tmp_path, caplog):
    labels = [*["billing", "cars"] * 20, "biling"]
    rows = (f"t{number},{label}\n" for number, label in enumerate(labels))
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(rows))
    open_tables(tmp_path).sets.read_labels()
    assert "'biling'" in caplog.text


def test_each_label_may_have_a_column(tmp_path):
    (tmp_path / "train.csv").write_text(
        "text,toxic,insult,threat\na,0,1,0\nb,1,1,0\nc,0,0,0\n"
    )
    processor = open_tables(tmp_path, label_column="toxic,insult,threat")
    labels = [example.label for example in processor.sets.read("train")]
    assert labels == [["insult"], ["toxic", "insult"], []]
    assert processor.sets.read_labels() == ["toxic", "insult", "threat"]
    assert processor.output_mode == "multilabel"


def test_a_test_set_may_lack_the_columns_of_labels(tmp_path):
    (tmp_path / "test.csv").write_text("text\na\n")
    processor = open_tables(tmp_path, label_column="toxic,insult,threat")
    (example,) = processor.sets.read("test")
    assert example.label is None
