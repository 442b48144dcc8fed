"""A user's own tables: formats, labels, and what is said of bad lines."""

import json

import numpy as np
import pytest

from tests.support.tables.labeled_tables import (
    create_processor,
    labels_of,
    read_examples,
    write_train_set,
)


def test_a_csv_may_have_quotes_a_byte_order_mark_and_dos_line_ends(tmp_path):
    text = (
        '\ufefflabel,id,text\r\nno,1,"a, ""b"""\r\n\r\n'
        'yes,2,"c\nd"\r\nno,3,café'
    )
    assert read_examples(tmp_path, "train.csv", text) == [
        ("train-1", 'a, "b"', None, "no"),
        ("train-2", "c\nd", None, "yes"),
        ("train-3", "café", None, "no"),
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


@pytest.mark.parametrize(
    ("name", "text", "culprit"),
    [
        (
            "dev.csv",
            "text,label\na,x\nb,q",
            "line 3, column 'label': .*'q'",
        ),
        ("dev.csv", "text,label\na, ", "dev.csv contains no example"),
        ("dev.csv", "text,label\n", "dev.csv contains no example"),
        ("dev.jsonl", '{"text": 1, "label": "x"}', "line 1, column 'text'"),
    ],
)
def test_an_error_names_the_file_or_the_line(tmp_path, name, text, culprit):
    with pytest.raises(ValueError, match=culprit):
        read_examples(tmp_path, name, text, labels=["x", "y"])


def test_a_missing_table_is_named_by_the_files_that_may_be_it(tmp_path):
    names = "dev.csv or dev.tsv or dev.jsonl"
    with pytest.raises(FileNotFoundError, match=names):
        read_examples(tmp_path, "dev.txt", "", labels=["x", "y"])


@pytest.mark.parametrize(
    "flags", [{"text_column": "label"}, {"text_b_column": "label"}]
)
def test_no_column_is_both_text_and_label(tmp_path, flags):
    with pytest.raises(ValueError, match="--label_column=label"):
        create_processor(tmp_path, **flags)


def test_a_text_may_be_its_own_pair_as_in_simcse(tmp_path):
    processor = create_processor(tmp_path, text_b_column="text")
    assert processor.text_columns == ["text", "text"]


# Rows of a table without names of columns, and the flags that read them.
ROWS = "a,yes\nb,no\n" * 5
NUMBERED_COLUMNS = {"text_column": "1", "label_column": "2", "delimiter": ","}


def test_the_first_row_is_an_example_where_columns_have_numbers(tmp_path):
    sets = write_train_set(tmp_path, ROWS, **NUMBERED_COLUMNS)
    assert sets.read_labels() == ["no", "yes"]


def test_a_row_of_column_names_is_no_example(tmp_path):
    sets = write_train_set(tmp_path, f"text,label\n{ROWS}", **NUMBERED_COLUMNS)
    with pytest.raises(ValueError, match=r"line 1 .*'label'"):
        sets.read_labels()


# A quote opens in one line and closes in another.
QUOTED_TEXT = 'text\tlabel\n"a\tyes\nb"\tno\nc\tyes\n'


def test_a_quote_that_contains_the_next_lines_is_an_error(tmp_path):
    with pytest.raises(
        ValueError, match="line 2: a quoted cell contains the next lines"
    ):
        read_examples(tmp_path, "train.tsv", QUOTED_TEXT)


def test_without_quoting_a_quote_is_a_letter(tmp_path):
    first, *_ = read_examples(tmp_path, "train.tsv", QUOTED_TEXT, quoting=False)
    assert first == ("train-1", '"a', None, "yes")


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


LABELED_ROWS = [
    {"text": text, "label": label}
    for text, label in zip("abcdef", "xyxyxy", strict=True)
]
INCOMPLETE_ROWS = [
    {"text": None, "label": "x"},
    {"text": " ", "label": "x"},
    {"text": "\u200b\ufeff", "label": "x"},
    {"label": "x"},
    {"text": "g", "label": None},
    {"text": "h", "label": ""},
    {"text": "i", "label": []},
    {"text": "j", "label": float("nan")},
    {"text": "k"},
]
ALL_ROWS = [LABELED_ROWS[0], *INCOMPLETE_ROWS, *LABELED_ROWS[1:]]


for_labeled_sets = pytest.mark.parametrize(
    ("name", "labels"), [("train.jsonl", None), ("dev.jsonl", ["x", "y"])]
)


@for_labeled_sets
def test_rows_without_text_or_label_are_left_out(tmp_path, name, labels):
    examples = read_examples(tmp_path, name, ALL_ROWS, labels=labels)
    kept = [(text, label) for _, text, _, label in examples]
    assert kept == [(row["text"], row["label"]) for row in LABELED_ROWS]


@for_labeled_sets
def test_the_log_counts_the_rows_that_are_left_out(
    tmp_path, caplog, name, labels
):
    labels_of(tmp_path, name, ALL_ROWS, labels=labels)
    assert caplog.messages[-1] == (
        f"{tmp_path / name}: 4 rows without text left out, "
        "5 rows without a label left out"
    )


def test_a_pair_of_which_one_text_is_empty_is_kept(tmp_path):
    text = "text,question,label\na,,x\n,b,y\n,,x\n"
    options = {"text_b_column": "question"}
    pairs = [
        (text_a, text_b)
        for _, text_a, text_b, _ in read_examples(
            tmp_path, "train.csv", text, **options
        )
    ]
    assert pairs == [("a", ""), ("", "b")]


def test_rows_of_a_test_set_are_all_kept(tmp_path):
    actual = labels_of(tmp_path, "test.jsonl", ALL_ROWS, labels=["x", "y"])
    assert actual == [*"xxxxx", *[None] * 5, *"yxyxy"]


def test_labels_that_look_the_same_are_one_label(tmp_path):
    text = "text,label\na,boats\nb,boats\u200b\nc,inns\n"
    assert write_train_set(tmp_path, text).read_labels() == ["boats", "inns"]


def test_a_label_that_may_be_misspelled_is_named(tmp_path, caplog):
    labels = [*["billing", "cars"] * 20, "biling"]
    rows = (f"t{number},{label}\n" for number, label in enumerate(labels))
    text = "text,label\n" + "".join(rows)
    write_train_set(tmp_path, text).read_labels()
    assert "misspelled: 'biling' (1), like 'billing' (20)" in caplog.text


PRODIGY_ROWS = [
    {"text": f"t{i}", "label": "xy"[i % 2], "answer": answer}
    for i, answer in enumerate(["accept", "reject", "accept", "ignore"])
]


def test_only_accepted_rows_of_prodigy_are_read(tmp_path, caplog):
    assert labels_of(tmp_path, "train.jsonl", PRODIGY_ROWS) == ["x", "x"]
    assert "2 rows left out" in caplog.text


def test_the_answers_of_prodigy_may_be_the_labels(tmp_path):
    options = {"label_column": "answer"}
    actual = labels_of(tmp_path, "train.jsonl", PRODIGY_ROWS, **options)
    assert actual == ["accept", "reject", "accept", "ignore"]


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


def test_without_a_folder_and_a_flag_no_labels_are_known():
    """An export of a model whose outputs have no names has neither."""
    with pytest.raises(ValueError, match="Set --data_dir or --labels"):
        create_processor(None).sets.read_labels()


def test_a_train_set_that_tells_no_labels_is_named(tmp_path):
    sets = write_train_set(tmp_path, "text,label\na,x\n")
    with pytest.raises(
        ValueError, match=r"must name 2 labels or more\. Received 1: \['x'\]"
    ):
        sets.read_labels()


def test_two_train_sets_are_an_error(tmp_path):
    (tmp_path / "train.tsv").write_text("text\tlabel\na\tx\n")
    sets = write_train_set(tmp_path, "text,label\na,x\nb,y\n")
    with pytest.raises(ValueError, match=r"train\.csv and .*train\.tsv"):
        sets.read_labels()
