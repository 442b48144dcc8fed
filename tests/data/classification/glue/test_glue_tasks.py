"""GLUE's tasks, on its files where they are, and on small ones of our own.

test_glue_processor_files.py tests how each property of a task is read.
"""

import csv

import pytest

from data.classification.glue import glue_tasks
from data.classification.glue.glue_processor import create_glue_processor
from tests.support import golden
from tests.support.log_lines import logged_warnings

# GLUE's folder, and the columns of texts and label (None: no header there).
FILES = [
    ("CoLA", "dev", (3,), 1),
    ("MRPC", "test", ("#1 String", "#2 String"), None),
    ("QNLI", "dev", ("question", "sentence"), "label"),
    ("RTE", "dev", ("sentence1", "sentence2"), "label"),
    ("SST-2", "dev", ("sentence",), "label"),
    ("STS-B", "train", ("sentence1", "sentence2"), "score"),
    ("STS-B", "test", ("sentence1", "sentence2"), None),
    ("WNLI", "train", ("sentence1", "sentence2"), "label"),
]


def create_processor(task, folder, language="zh"):
    """Creates the processor of one of GLUE's tasks."""
    return create_glue_processor(task, folder, language)


def read_rows(path, has_names):
    """Returns the rows of a file of GLUE: dicts, or lists without names."""
    with open(path, encoding="utf-8-sig", newline="\n") as reader:
        rows = list(csv.reader(reader, delimiter="\t", quotechar=None))
    if not has_names:
        return rows
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]


@pytest.mark.parametrize(
    ("task", "set_name", "text_columns", "label_column"), FILES
)
def test_every_row_of_glues_own_files_is_an_example(
    task, set_name, text_columns, label_column
):
    path = golden.shared_path(f"data/glue/{task}/{set_name}.tsv")
    rows = read_rows(path, has_names=isinstance(text_columns[0], str))
    processor = create_processor(task.lower(), path.parent)
    examples = processor.sets.read(set_name)
    assert processor.num_texts == len(text_columns)
    texts = [[example.text_a, example.text_b] for example in examples]
    assert texts == [
        [*(row[column] for column in text_columns), None][:2] for row in rows
    ]


@pytest.mark.parametrize(
    ("task", "set_name", "label_column"),
    [
        (task, set_name, label_column)
        for task, set_name, _, label_column in FILES
        if label_column is not None and task != "STS-B"
    ],
)
def test_every_label_of_glues_own_files_is_one_of_the_tasks(
    task, set_name, label_column
):
    path = golden.shared_path(f"data/glue/{task}/{set_name}.tsv")
    rows = read_rows(path, has_names=isinstance(label_column, str))
    processor = create_processor(task.lower(), path.parent)
    labels = [example.label for example in processor.sets.read(set_name)]
    assert labels == [row[label_column] for row in rows]
    assert {*labels} <= {*processor.sets.read_labels()}


def test_every_score_of_sts_b_is_a_number():
    path = golden.shared_path("data/glue/STS-B/train.tsv")
    rows = read_rows(path, has_names=True)
    examples = create_processor("sts-b", path.parent).sets.read("train")
    scores = [example.label for example in examples]
    assert scores == [float(row["score"]) for row in rows]


def write_lines(folder, name, *lines):
    (folder / name).write_text("\n".join(lines) + "\n")


def test_broken_lines_of_qqp_are_left_out(tmp_path, caplog):
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
    lines = [header, "7\t1\t2\ta\tb\t1", "8\t1\t2\tbroken", "9\t1\t2\tc\td\t0"]
    write_lines(tmp_path, "train.tsv", *lines)
    examples = create_processor("qqp", tmp_path).sets.read("train")
    assert [
        (example.guid, example.text_a, example.text_b, example.label)
        for example in examples
    ] == [
        ("train-1", "a", "b", "1"),
        ("train-3", "c", "d", "0"),
    ]
    (warning,) = logged_warnings(caplog)
    assert "train.tsv" in warning


def test_broken_lines_of_a_test_set_of_qqp_get_an_empty_text(tmp_path, caplog):
    """GLUE numbers the lines of a test set: each needs its prediction."""
    # An empty line at the end is no row.
    rows = ("0\te", "1\te\tf", "")
    write_lines(tmp_path, "test.tsv", "id\tquestion1\tquestion2", *rows)
    short, example = create_processor("qqp", tmp_path).sets.read("test")
    assert (short.text_a, short.text_b) == ("e", "")
    assert (example.text_a, example.text_b) == ("e", "f")
    (warning,) = logged_warnings(caplog)
    assert "test.tsv" in warning


def test_mnli_has_a_mismatched_set(tmp_path):
    row = "5\tp\tq\tg\tx\tx\tx\tx\ta\tb\tneutral"
    write_lines(tmp_path, "dev_mismatched.tsv", "header", row)
    (example,) = create_processor("mnli-mm", tmp_path).sets.read("dev")
    assert (example.guid, example.label) == ("dev_mismatched-5", "neutral")


def test_the_diagnostic_set_has_the_labels_of_mnli(tmp_path):
    write_lines(
        tmp_path, "diagnostic.tsv", "index\tsentence1\tsentence2", "0\ta\tb"
    )
    ax = create_processor("ax", tmp_path)
    (example,) = ax.sets.read("test")
    assert (example.text_a, example.text_b) == ("a", "b")
    mnli = create_processor("mnli", tmp_path)
    assert ax.sets.read_labels() == mnli.sets.read_labels()


def test_the_diagnostic_set_is_not_for_training(tmp_path):
    with pytest.raises(OSError, match="there is no train set in"):
        create_processor("ax", tmp_path).sets.read("train")


def test_xnli_is_read_in_one_language(tmp_path):
    rows = [
        f"{language}\tneutral\t\t\t\t\ta\tb" for language in ("ar", "bg", "de")
    ]
    write_lines(tmp_path, "xnli.test.tsv", "header", *rows)
    (example,) = create_processor("xnli", tmp_path, "bg").sets.read("test")
    assert (example.guid, example.label) == ("test-2", "neutral")


@pytest.mark.parametrize(
    ("task", "lines", "culprit"),
    [
        ("rte", ["a\tb", "c\td"], "line 1: .*'sentence1'"),
        ("cola", ["a\t1\t\tfine", "a\t1\tfine"], "line 2: .*3"),
        ("mrpc", ["header", "2\t0\t0\ta\tb"], "line 2: column 1: .*'2'"),
        ("wnli", ["sentence1\tsentence2\tlabel"], "no example"),
        (
            "sts-b",
            ["sentence1\tsentence2\tscore", "a\tb\t5.0", "a\tb\tnan"],
            "line 3: column 3",
        ),
    ],
)
def test_a_malformed_file_of_glue_is_named_with_its_line(
    tmp_path, task, lines, culprit
):
    write_lines(tmp_path, "dev.tsv", *lines)
    with pytest.raises(ValueError, match=f"dev.tsv.*{culprit}"):
        create_processor(task, tmp_path).sets.read("dev")


def test_quotes_and_odd_bytes_are_read_as_googles_code_reads_them(tmp_path):
    text = (
        'a\t1\t\t"He said\na\t0\t\t"x" y"\t"\r\nb\t1\t*\t it\'s \u2028 one \n'
        "\ufeffc\t0\t\tlast, no line end"
    )
    path = tmp_path / "train.tsv"
    path.write_bytes(text.encode())
    with open(path, encoding="utf-8", newline="\n") as reader:
        expected = list(csv.reader(reader, delimiter="\t", quotechar=None))
    examples = create_processor("cola", tmp_path).sets.read("train")
    assert [example.text_a for example in examples] == [
        row[3] for row in expected
    ]


def test_the_train_set_has_a_file_name_of_its_own():
    definition = glue_tasks.GlueTaskDefinition(
        train_file="a.tsv", other_files="b_{}.tsv"
    )
    assert definition.file_of_set("train") == "a.tsv"
    assert definition.file_of_set("dev") == "b_dev.tsv"


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("ax", "AX.tsv"),
        ("cola", "CoLA.tsv"),
        ("mnli", "MNLI-m.tsv"),
        ("mnli-mm", "MNLI-mm.tsv"),
        ("sst-2", "SST-2.tsv"),
    ],
)
def test_submission_file_has_the_name_that_the_site_expects(task, file):
    assert glue_tasks.submission_file(task) == file


@pytest.mark.parametrize("task", ["xnli", "csv"])
def test_submission_file_is_only_for_tasks_of_glue(task):
    with pytest.raises(
        ValueError, match=f"--glue_submission is not for {task}"
    ):
        glue_tasks.submission_file(task)
