"""predict.py on tables, texts and pipes: forms of files, and errors."""

import contextlib
import csv
import datetime
import decimal
import functools
import gzip
import resource
import shutil
import sys
import types

import numpy as np
import pytest

import predict as script
from data.outputs.output_rows import OutputRow
from options.config_values import create_config
from options.parsed_command import ParsedCommand
from serving.predict import predict_steps
from serving.predict.predict_config import PredictConfig
from tests.support import output_files
from tests.support.tables.csv_files import read_csv

NUM_ROWS = 150
TEXTS = [f"The boat {'of the sea ' * (i % 5)}{i}." for i in range(NUM_ROWS)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Folder with tables of the same texts, which no test changes."""
    folder = tmp_path_factory.mktemp("tables")
    lines = [f"{i};{text}\n" for i, text in enumerate(TEXTS)]
    (folder / "in.csv").write_text("id;review\n" + "".join(lines))
    for name, part in (("1.csv", lines[:70]), ("2.csv", lines[70:])):
        (folder / name).write_text("id;review\n" + "".join(part))
    (folder / "in.txt.gz").write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    return folder


@pytest.fixture
def folder(tables, tmp_path):
    """A copy of `tables` for one test, in which predict.py runs."""
    return shutil.copytree(tables, tmp_path / "tables")


def run_in(folder, model, **flags):
    """Runs predict.py in a folder, in this process."""
    defaults = {"text_column": "review", "batch_size": 4, "model": str(model)}
    with contextlib.chdir(folder):
        config = create_config(PredictConfig, **defaults | flags)
        return script.main(ParsedCommand(config))


@pytest.fixture
def predict(folder, export_folders):
    """Runs predict.py on the classifier."""
    return functools.partial(run_in, folder, export_folders["classifier"])


@pytest.fixture(scope="module")
def good_file(tables, export_folders, tmp_path_factory):
    """File with the answers to all rows, as JSON lines."""
    path = tmp_path_factory.mktemp("good") / "good.jsonl"
    model = export_folders["classifier"]
    flags = {"input_file": "in.csv", "output_file": str(path)}
    assert run_in(tables, model, **flags) == 0
    return path


@pytest.fixture
def good_answers(good_file):
    """The answers to all rows."""
    result = output_files.read_json_lines(good_file)
    assert [answer["id"] for answer in result] == [*map(str, range(NUM_ROWS))]
    return result


def test_an_array_contains_the_numbers_of_the_answers(
    folder, predict, good_answers
):
    assert predict(input_file="in.csv", output_file="out.npy") == 0
    numbers = [list(row["probabilities"].values()) for row in good_answers]
    array = np.load(folder / "out.npy")
    assert array.dtype == np.float32
    assert array.shape == (NUM_ROWS, 3)
    np.testing.assert_allclose(array, numbers, atol=1e-5)


def test_a_compressed_table_is_the_table(folder, predict):
    for name in ("out.csv", "out.csv.gz"):
        assert predict(input_file="in.csv", output_file=name) == 0
    compressed = (folder / "out.csv.gz").read_bytes()
    assert gzip.decompress(compressed) == (folder / "out.csv").read_bytes()


def test_a_table_contains_the_columns_of_the_input_and_of_the_answers(
    folder, predict, good_answers
):
    assert predict(input_file="in.csv", output_file="out.csv") == 0
    text = (folder / "out.csv").read_text()
    names = ["no", "maybe", "yes"]
    header, *cells = csv.reader(text.splitlines())
    # All columns of the input come first.
    answers = ["label", *(f"probabilities.{name}" for name in names)]
    assert header == ["id", "review", *answers]
    for row, answer in zip(cells, good_answers, strict=True):
        values = map(str, answer["probabilities"].values())
        columns = answer["id"], answer["review"], answer["label"]
        assert row == [*columns, *values]


def test_progress_is_logged(predict, caplog, monkeypatch):
    monkeypatch.setattr("terminal.progress.FIRST_LINE", 0.0)
    caplog.set_level("INFO", logger="absl")
    predict(input_file="in.csv", output_file="logged.jsonl")
    assert f"4 of {NUM_ROWS}" in caplog.text


def test_the_number_of_answers_and_their_file_are_logged(predict, caplog):
    caplog.set_level("INFO", logger="absl")
    predict(input_file="in.csv", output_file="logged.jsonl")
    assert "150 answered" in caplog.text
    assert "logged.jsonl" in caplog.text


def test_several_files_follow_one_another(folder, predict, good_file):
    predict(input_file="1.csv,2.csv", output_file="both.jsonl")
    assert (folder / "both.jsonl").read_bytes() == good_file.read_bytes()


def test_each_line_of_text_is_a_row(folder, predict, good_answers, caplog):
    caplog.set_level("INFO", logger="absl")
    predict(input_file="in.txt.gz", output_file="text.jsonl", text_column=None)
    result = output_files.read_json_lines(folder / "text.jsonl")
    names = ("label", "probabilities")
    assert result == [
        {name: answer[name] for name in names} for answer in good_answers
    ]


def test_an_empty_line_of_text_is_a_row(folder, predict, caplog):
    """Line N of the output is the answer to line N."""
    caplog.set_level("INFO", logger="absl")
    (folder / "gaps.txt").write_text("a\n\nb\n \nc\n")
    flags = {"input_file": "gaps.txt", "text_column": None}
    assert predict(**flags, output_file="gaps.npy") == 0
    assert "5 answered, 0 failed, 2 without text" in caplog.text
    has_numbers = np.isfinite(np.load(folder / "gaps.npy")).all(1)
    assert has_numbers.tolist() == [True, False, True, False, True]


@pytest.fixture
def bad_rows(folder):
    """Names of a table with bad rows, and of one without."""
    lines = ["id,review", "1,a", "2", *(f"{i},\udcff" for i in range(3, 20))]
    text = "\n".join(lines)
    (folder / "bad.csv").write_text(text, errors="surrogateescape")
    (folder / "good.csv").write_text("id,review\n7,a")
    return "bad.csv,good.csv"


def test_the_log_names_some_bad_rows(bad_rows, predict, caplog):
    assert predict(input_file=bad_rows, output_file="bad_out.csv") == 1
    assert "bad.csv, line 3" in caplog.text
    assert caplog.text.count("is not UTF-8") == 9


def test_bad_rows_keep_their_place_in_the_output(folder, bad_rows, predict):
    predict(input_file=bad_rows, output_file="bad_out.csv")
    rows = read_csv(folder / "bad_out.csv")
    assert [*rows[0]][-3:] == ["file", "line", "error"]
    assert [row["line"] for row in rows] == ["", *map(str, range(3, 21)), ""]


def test_bad_rows_of_tables_are_nan_in_an_array(folder, bad_rows, predict):
    # The answers are there, and the exit status tells that some are not.
    status = predict(
        input_file=bad_rows,
        output_file="bad.npy",
        output_fields=["probabilities"],
    )
    assert status == 1
    is_nan = np.isnan(np.load(folder / "bad.npy")).all(1)
    assert [*is_nan] == [False, *[True] * 18, False]


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        ({"text_column": None}, "'id', 'review'.*--text_column"),
        ({"input_file": "open.csv"}, "open.csv, line 3"),
        ({"output_fields": ["vector"]}, "--output_fields=vector.*label"),
        ({"output_fields": ["label"], "output_format": "npy"}, "float"),
        ({"output_file": "no.out.tsv"}, "--output_file=no.out.tsv"),
        ({"output_file": "no.out.parquet.gz"}, "--output_file"),
        ({"model": "features", "text_b_column": "id"}, "--text_b_column=id"),
    ],
)
def test_wrong_flags_and_tables_are_errors_of_one_line(
    flags, word, folder, export_folders, monkeypatch
):
    monkeypatch.chdir(folder)
    (folder / "open.csv").write_text('review\na\n"b\n' + "c\n" * 50)
    defaults = {"input_file": "in.csv", "text_column": "review"}
    flags = {"model": "classifier", "output_file": "no.out"} | defaults | flags
    flags["model"] = str(export_folders[flags["model"]])
    config = create_config(PredictConfig, **flags)
    with pytest.raises(ValueError, match=word):
        script.main(ParsedCommand(config))
    assert not [*folder.glob("no.out*")]


def test_a_missing_input_is_named(folder, export_folders, monkeypatch):
    monkeypatch.chdir(folder)
    config = create_config(
        PredictConfig,
        model=str(export_folders["classifier"]),
        input_file="a.csv,absent",
        output_file="no.out",
    )
    with pytest.raises(FileNotFoundError, match=r"--input_file: .*'a\.csv'"):
        script.main(ParsedCommand(config))
    assert not [*folder.glob("no.out*")]


@pytest.fixture
def break_answering(folder, monkeypatch):
    """A function that makes the answering fail after the first answer."""

    def fail(*arguments, **options):
        yield [OutputRow({"label": "yes"})]
        raise OSError("the disk is full")

    return lambda: monkeypatch.setattr(predict_steps, "answer_rows", fail)


def test_an_earlier_output_stays_while_rows_are_answered(
    folder, predict, monkeypatch
):
    (folder / "kept.jsonl").write_text("earlier")

    def answer_rows(*arguments, **options):
        yield [OutputRow({"label": "yes"})]
        assert (folder / "kept.jsonl").read_text() == "earlier"

    monkeypatch.setattr(predict_steps, "answer_rows", answer_rows)
    predict(input_file="in.csv", output_file="kept.jsonl")
    (answer,) = output_files.read_json_lines(folder / "kept.jsonl")
    assert answer == {"label": "yes"}


def test_an_earlier_output_stays_if_the_command_fails(
    folder, predict, break_answering
):
    (folder / "kept.jsonl").write_text("earlier")
    break_answering()
    with pytest.raises(OSError, match=r"disk is full"):
        predict(input_file="in.csv", output_file="kept.jsonl")
    assert (folder / "kept.jsonl").read_text() == "earlier"


def test_a_command_that_fails_leaves_no_part_of_an_output(
    folder, predict, break_answering
):
    break_answering()
    with pytest.raises(OSError, match=r"disk is full"):
        predict(input_file="in.csv", output_file="new.csv")
    assert not [*folder.glob("new*"), *folder.glob("*.partial*")]


def test_a_complete_output_replaces_an_earlier_one(folder, predict):
    (folder / "kept.jsonl").write_text("earlier")
    predict(input_file="in.csv", output_file="kept.jsonl")
    assert len(output_files.read_json_lines(folder / "kept.jsonl")) == NUM_ROWS


def test_a_full_disk_is_named(predict):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (99, hard))
    try:
        with pytest.raises(OSError, match=r"File too large: .*full\.jsonl"):
            predict(input_file="in.csv", output_file="full.jsonl")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_standard_output_is_named(predict, monkeypatch):
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=full))
        with pytest.raises(OSError, match="standard output"):
            predict(input_file="in.csv")


@pytest.fixture
def odd_columns(folder):
    """Name of a table whose columns JSON and CSV cannot write as they are."""
    pyarrow = pytest.importorskip(
        "pyarrow", reason="needs requirements/tables.txt"
    )
    from pyarrow import parquet

    columns = {
        "review": ["a", "b", None],
        "ratio": [0.5, float("inf"), float("nan")],
        "raw": [b"x", b"\xff", None],
        "day": [datetime.date(2026, 1, 2)] * 3,
        "price": [decimal.Decimal("1.50")] * 3,
        "list": [[1.0, float("-inf")], [], None],
        "struct": [{"a": float("inf")}] * 3,
    }
    parquet.write_table(pyarrow.table(columns), folder / "odd.parquet")
    return "odd.parquet"


@pytest.fixture
def odd_rows(folder, odd_columns, predict):
    """The rows of that table with their answers, as CSV writes them."""
    assert predict(input_file=odd_columns, output_file="odd.csv") == 0
    return read_csv(folder / "odd.csv")


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("ratio", ["0.5", "inf", ""]),
        ("raw", ["b'x'", r"b'\xff'", ""]),
        ("day", ["2026-01-02"] * 3),
        ("price", ["1.50"] * 3),
        ("list", ["[1.0, null]", "[]", ""]),
        ("struct.a", ["inf"] * 3),
    ],
)
def test_columns_of_odd_types_stand_beside_the_answers_in_csv(
    column, cells, odd_rows
):
    assert [row[column] for row in odd_rows] == cells


def test_only_rows_with_a_text_are_answered_in_csv(odd_rows):
    assert [bool(row["label"]) for row in odd_rows] == [True, True, False]


def test_numbers_that_are_not_finite_are_null_in_json_lines(
    folder, odd_columns, predict
):
    assert predict(input_file=odd_columns, output_file="odd.jsonl") == 0
    result = output_files.read_json_lines(folder / "odd.jsonl")
    assert [row["ratio"] for row in result] == [0.5, None, None]


@pytest.mark.parametrize("name", ["odd.csv", "odd.jsonl"])
def test_a_written_table_can_be_read_again(name, odd_columns, predict):
    assert predict(input_file=odd_columns, output_file=name) == 0
    assert predict(input_file=name, output_file="again.jsonl") == 0


@pytest.fixture
def rows_of_odd_json(folder, predict):
    """The written rows of JSON lines with Infinity, NaN and null."""
    lines = [
        '{"review": "a", "x": Infinity}',
        '{"review": "b", "x": NaN}',
        '{"review": null, "x": 1}',
    ]
    (folder / "inf.jsonl").write_text("\n".join(lines))
    assert predict(input_file="inf.jsonl", output_file="inf.csv") == 0
    return read_csv(folder / "inf.csv")


def test_json_lines_may_contain_infinity(rows_of_odd_json):
    assert [row["x"] for row in rows_of_odd_json] == ["inf", "", "1"]


def test_only_a_text_that_is_null_has_no_label(rows_of_odd_json):
    have_labels = [bool(row["label"]) for row in rows_of_odd_json]
    assert have_labels == [True, True, False]


@pytest.fixture
def repeated_columns(folder):
    """Name of a table with two columns of one name."""
    text = "Tag,review,Tag\n1,a,2\n3,b,4\n"
    (folder / "twice.csv").write_text(text)
    return "twice.csv"


def test_both_columns_of_one_name_are_copied_to_csv(
    folder, repeated_columns, predict
):
    assert predict(input_file=repeated_columns, output_file="out2.csv") == 0
    header, *rows = csv.reader((folder / "out2.csv").open())
    assert header[:4] == ["Tag", "review", "Tag", "label"]
    assert [row[:3] for row in rows] == [["1", "a", "2"], ["3", "b", "4"]]


def test_the_second_column_of_one_name_has_another_key_in_json_lines(
    folder, repeated_columns, predict
):
    predict(input_file=repeated_columns, output_file="out2.jsonl")
    first, _ = output_files.read_json_lines(folder / "out2.jsonl")
    assert (first["Tag"], first["Tag.1"]) == ("1", "2")


def test_a_text_column_must_not_be_one_of_two_columns_of_one_name(
    repeated_columns, predict
):
    with pytest.raises(ValueError, match="two columns are named 'Tag'"):
        predict(
            input_file=repeated_columns,
            output_file="no.csv",
            text_column="Tag",
        )
