"""predict.py on tables and texts: formats of files, bad rows, wrong flags."""

import csv
import gzip

import numpy as np
import pytest

import predict as script
from options.parsed_command import ParsedCommand
from serving.predict.predict_config import PredictConfig
from tests.support import output_files
from tests.support.tables.csv_files import read_csv


@pytest.fixture(scope="module")
def good_file(tables_of_reviews, classify_in, tmp_path_factory):
    """File with the replies to all rows, as JSON lines."""
    path = tmp_path_factory.mktemp("good") / "good.jsonl"
    flags = {"input_file": "in.csv", "output_file": str(path)}
    assert classify_in(tables_of_reviews, **flags) == 0
    return path


@pytest.fixture
def good_replies(good_file, reviews):
    """The replies to all rows."""
    result = output_files.read_json_lines(good_file)
    assert [row["id"] for row in result] == [*map(str, range(len(reviews)))]
    return result


def test_an_array_contains_the_numbers_of_the_replies(
    work_folder, classify, good_replies
):
    assert classify(input_file="in.csv", output_file="out.npy") == 0
    numbers = [list(row["probabilities"].values()) for row in good_replies]
    array = np.load(work_folder / "out.npy")
    assert array.dtype == np.float32
    assert array.shape == (len(good_replies), 3)
    np.testing.assert_allclose(array, numbers, atol=1e-5)


def test_a_compressed_table_is_the_table(work_folder, classify):
    for name in ("out.csv", "out.csv.gz"):
        assert classify(input_file="in.csv", output_file=name) == 0
    compressed = (work_folder / "out.csv.gz").read_bytes()
    assert gzip.decompress(compressed) == (work_folder / "out.csv").read_bytes()


def test_a_table_contains_the_columns_of_the_input_and_of_the_replies(
    work_folder, classify, good_replies
):
    assert classify(input_file="in.csv", output_file="out.csv") == 0
    text = (work_folder / "out.csv").read_text()
    names = ["no", "maybe", "yes"]
    header, *cells = csv.reader(text.splitlines())
    # All columns of the input come first.
    replies = ["label", *(f"probabilities.{name}" for name in names)]
    assert header == ["id", "review", *replies]
    for row, reply in zip(cells, good_replies, strict=True):
        values = map(str, reply["probabilities"].values())
        columns = reply["id"], reply["review"], reply["label"]
        assert row == [*columns, *values]


def test_progress_is_logged(classify, reviews, caplog, monkeypatch):
    monkeypatch.setattr("terminal.progress.FIRST_LINE", 0.0)
    caplog.set_level("INFO", logger="absl")
    classify(input_file="in.csv", output_file="logged.jsonl")
    assert f"4 of {len(reviews)}" in caplog.text


def test_the_number_of_answers_and_their_file_are_logged(classify, caplog):
    caplog.set_level("INFO", logger="absl")
    classify(input_file="in.csv", output_file="logged.jsonl")
    assert "150 answered" in caplog.text
    assert "logged.jsonl" in caplog.text


def test_several_files_follow_one_another(work_folder, classify, good_file):
    classify(input_file="1.csv,2.csv", output_file="both.jsonl")
    assert (work_folder / "both.jsonl").read_bytes() == good_file.read_bytes()


def test_each_line_of_text_is_a_row(
    work_folder, classify, good_replies, caplog
):
    caplog.set_level("INFO", logger="absl")
    classify(input_file="in.txt.gz", output_file="text.jsonl", text_column=None)
    result = output_files.read_json_lines(work_folder / "text.jsonl")
    names = ("label", "probabilities")
    assert result == [
        {name: reply[name] for name in names} for reply in good_replies
    ]


def test_an_empty_line_of_text_is_a_row(work_folder, classify, caplog):
    """Line N of the output is the reply to line N."""
    caplog.set_level("INFO", logger="absl")
    (work_folder / "gaps.txt").write_text("a\n\nb\n \nc\n")
    flags = {"input_file": "gaps.txt", "text_column": None}
    assert classify(**flags, output_file="gaps.npy") == 0
    assert "5 answered, 0 failed, 2 without text" in caplog.text
    has_numbers = np.isfinite(np.load(work_folder / "gaps.npy")).all(1)
    assert has_numbers.tolist() == [True, False, True, False, True]


@pytest.fixture
def bad_rows(work_folder):
    """Names of a table with bad rows, and of one without."""
    lines = ["id,review", "1,a", "2", *(f"{i},\udcff" for i in range(3, 20))]
    text = "\n".join(lines)
    (work_folder / "bad.csv").write_text(text, errors="surrogateescape")
    (work_folder / "good.csv").write_text("id,review\n7,a")
    return "bad.csv,good.csv"


def test_the_log_names_some_bad_rows(bad_rows, classify, caplog):
    assert classify(input_file=bad_rows, output_file="bad_out.csv") == 1
    assert "bad.csv, line 3" in caplog.text
    assert caplog.text.count("is not UTF-8") == 9


def test_bad_rows_keep_their_place_in_the_output(
    work_folder, bad_rows, classify
):
    classify(input_file=bad_rows, output_file="bad_out.csv")
    rows = read_csv(work_folder / "bad_out.csv")
    assert [*rows[0]][-3:] == ["file", "line", "error"]
    assert [row["line"] for row in rows] == ["", *map(str, range(3, 21)), ""]


def test_bad_rows_of_tables_are_nan_in_an_array(
    work_folder, bad_rows, classify
):
    # The replies are there, and the exit status tells that some are not.
    status = classify(
        input_file=bad_rows,
        output_file="bad.npy",
        output_fields=["probabilities"],
    )
    assert status == 1
    is_nan = np.isnan(np.load(work_folder / "bad.npy")).all(1)
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
    flags, word, work_folder, export_folders, monkeypatch
):
    monkeypatch.chdir(work_folder)
    (work_folder / "open.csv").write_text('review\na\n"b\n' + "c\n" * 50)
    defaults = {"input_file": "in.csv", "text_column": "review"}
    flags = {"model": "classifier", "output_file": "no.out"} | defaults | flags
    flags["model"] = str(export_folders[flags["model"]])
    config = PredictConfig.from_values(**flags)
    with pytest.raises(ValueError, match=word):
        script.main(ParsedCommand(config))
    assert not [*work_folder.glob("no.out*")]


def test_a_missing_input_is_named(work_folder, export_folders, monkeypatch):
    monkeypatch.chdir(work_folder)
    config = PredictConfig.from_values(
        model=str(export_folders["classifier"]),
        input_file="a.csv,absent",
        output_file="no.out",
    )
    with pytest.raises(FileNotFoundError, match=r"--input_file: .*'a\.csv'"):
        script.main(ParsedCommand(config))
    assert not [*work_folder.glob("no.out*")]
