"""Columns in the files of GLUE's mirrors, which are found by their names."""

import json

import pytest

from data.classification.glue.glue_processor import create_glue_processor


def create_processor(task, folder, language="zh"):
    """Creates the processor of one of GLUE's tasks."""
    return create_glue_processor(task, folder, language)


def write_lines(folder, name, *lines):
    (folder / name).write_text("\n".join(lines) + "\n")


def rows_of(examples):
    """Returns (first text, second text, label) of examples."""
    return [
        (example.text_a, example.text_b, example.label) for example in examples
    ]


PAIR = ("a", "b")


# Task, header, row, and label that is read.
MIRRORS = [
    ("mrpc", "sentence1 sentence2 label idx", "a b 1 0", (*PAIR, "1")),
    ("mrpc", "sentence1 sentence2 label idx", "a b 1.0 0", (*PAIR, "1")),
    ("mrpc", "idx Sentence1 Sentence2 Label x", "9 a b 0 0", (*PAIR, "0")),
    ("mrpc", "text1 text2 label idx", "a b 1 0", (*PAIR, "1")),
    ("mrpc", "text1 text2 label", "a b not_equivalent", (*PAIR, "0")),
    ("cola", "sentence label idx", "a 1 0", ("a", None, "1")),
    ("cola", "idx sentence label", "7 a unacceptable", ("a", None, "0")),
    ("cola", "label text", "0 a", ("a", None, "0")),
    ("sst-2", "idx sentence label", "0 a 1", ("a", None, "1")),
    ("sst-2", "text label", "a negative", ("a", None, "0")),
    ("sts-b", "sentence1 sentence2 label idx", "a b 3.5 0", (*PAIR, 3.5)),
    ("qqp", "question1 question2 label idx", "a b 0 0", (*PAIR, "0")),
    ("mnli", "premise hypothesis label idx", "a b 0 0", (*PAIR, "entailment")),
    ("mnli", "premise hypothesis label", "a b 1", (*PAIR, "neutral")),
    (
        "mnli",
        "idx label hypothesis premise",
        "0 2 b a",
        (*PAIR, "contradiction"),
    ),
    (
        "mnli",
        "gold_label sentence1 sentence2",
        "neutral a b",
        (*PAIR, "neutral"),
    ),
    ("qnli", "question sentence label idx", "a b 0 0", (*PAIR, "entailment")),
    (
        "qnli",
        "idx sentence question label",
        "0 b a 1",
        (*PAIR, "not_entailment"),
    ),
    (
        "rte",
        "sentence1 sentence2 label idx",
        "a b 1.0 0",
        (*PAIR, "not_entailment"),
    ),
    ("rte", "premise hypothesis idx label", "a b 0 0", (*PAIR, "entailment")),
    ("wnli", "sentence1 sentence2 label idx", "a b 1 0", (*PAIR, "1")),
    ("wnli", "sentence1 sentence2 label", "a b entailment", (*PAIR, "1")),
]


def write_parquet(folder, stem, names, cells):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist([dict(zip(names, cells, strict=True))])
    parquet.write_table(table, folder / f"{stem}.parquet")


def write_jsonl(folder, stem, names, cells):
    """Writes cells that begin with a digit as numbers."""
    numbers = [float(cell) if cell[0].isdigit() else cell for cell in cells]
    line = json.dumps(dict(zip(names, numbers, strict=True)))
    write_lines(folder, f"{stem}.jsonl", line)


def write_csv(folder, stem, names, cells):
    write_lines(folder, f"{stem}.csv", ",".join(names), ",".join(cells))


def write_tsv(folder, stem, names, cells):
    write_lines(folder, f"{stem}.tsv", "\t".join(names), "\t".join(cells))


# {task: name of its dev set without the ending}
DEV_SETS = {"mnli": "dev_matched"}


@pytest.mark.parametrize(
    "write_row", [write_tsv, write_csv, write_jsonl, write_parquet]
)
@pytest.mark.parametrize(("task", "header", "row", "expected"), MIRRORS)
def test_columns_of_mirrors_are_found_by_name(
    tmp_path, task, header, row, expected, write_row
):
    stem = DEV_SETS.get(task, "dev")
    write_row(tmp_path, stem, header.split(), row.split())
    examples = create_processor(task, tmp_path).sets.read("dev")
    assert rows_of(examples) == [expected]


def test_labels_that_are_numbers_are_explained(tmp_path, caplog):
    header = "premise\thypothesis\tlabel\tidx"
    write_lines(tmp_path, "train.tsv", header, "a\tb\t0\t0", "c\td\t2\t1")
    with caplog.at_level("INFO"):
        create_processor("mnli", tmp_path).sets.read("train")
    (record,) = caplog.records
    assert "0 as entailment, 1 as neutral, 2 as contradiction" in record.message


def test_labels_that_are_words_need_no_explanation(tmp_path, caplog):
    header = "index\tsentence1\tsentence2\tlabel"
    write_lines(tmp_path, "train.tsv", header, "0\ta\tb\tentailment")
    with caplog.at_level("INFO"):
        create_processor("rte", tmp_path).sets.read("train")
    assert not caplog.records


def test_test_sets_of_mirrors_have_no_labels(tmp_path):
    write_lines(tmp_path, "test.tsv", "sentence\tlabel\tidx", "a\t-1\t0")
    (example,) = create_processor("cola", tmp_path).sets.read("test")
    assert (example.guid, example.text_a) == ("test-1", "a")


def test_the_matched_test_set_of_a_mirror_has_no_labels(tmp_path):
    header = "premise\thypothesis\tlabel\tidx"
    write_lines(tmp_path, "test_matched.tsv", header, "a\tb\t-1\t0")
    (example,) = create_processor("mnli", tmp_path).sets.read("test")
    assert (example.guid, example.text_a, example.text_b) == (
        "test-1",
        *PAIR,
    )


@pytest.mark.parametrize(
    ("task", "header", "row", "name"),
    [
        ("sts-b", "sentence1 sentence2 similarity", "a b 1", "'score'"),
        ("mrpc", "sentence1 sentence2 same idx", "a b 1 0", "'label'"),
        ("mrpc", "first second label", "a b 1", "few columns .3."),
        ("mnli", "first second label", "a b 1", "few columns .3."),
        ("qnli", "question answer label", "a b 1", "'sentence'"),
        ("qnli", "sentence1 sentence2 label", "a b 1", "'question'"),
        ("qqp", "sentence1 sentence2 x", "a b 1", "'is_duplicate'"),
        ("rte", "first second label", "a b 1", "'sentence1'"),
    ],
)
def test_a_missing_column_is_named(tmp_path, task, header, row, name):
    stem = "dev_matched" if task == "mnli" else "dev"
    lines = ["\t".join(line.split()) for line in (header, row)]
    write_lines(tmp_path, f"{stem}.tsv", *lines)
    with pytest.raises(ValueError, match=f"{name}.*--task_name=csv"):
        create_processor(task, tmp_path).sets.read("dev")


def test_a_tsv_file_comes_before_other_tables(tmp_path):
    write_lines(tmp_path, "dev.csv", "sentence,label", "csv,1")
    write_lines(tmp_path, "dev.tsv", "sentence\tlabel", "tsv\t1")
    (example,) = create_processor("sst-2", tmp_path).sets.read("dev")
    assert example.text_a == "tsv"


def test_csv_of_a_mirror_may_be_quoted(tmp_path):
    write_lines(tmp_path, "train.csv", "sentence,label", '"csv, quoted",1')
    (example,) = create_processor("sst-2", tmp_path).sets.read("train")
    assert example.text_a == "csv, quoted"
