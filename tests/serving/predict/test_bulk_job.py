"""Replies in units and processes: the same bytes, whatever happens.

The tests call the stages of predict.py in their process, except for the test of
several processes.
"""

import contextlib
import csv
import functools
import gzip
import json
import random
import re
import shutil

import numpy as np
import pytest

import predict as script
from options.parsed_command import ParsedCommand
from serving.predict.predict_config import PredictConfig
from tests.support import output_files, script_runner
from tests.support.serving.bulk_files import (
    WORDS,
    make_text,
    read_rows,
    shards_of,
    write_inputs,
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folder with `write_inputs`'s files, which no test changes."""
    folder = tmp_path_factory.mktemp("bulk")
    write_inputs(folder)
    return folder


@pytest.fixture
def folder(inputs, tmp_path):
    """A copy of `inputs` for one test, in which predict.py runs."""
    return shutil.copytree(inputs, tmp_path / "bulk")


def run_in(folder, models, output, kind="classifier", **flags):
    """Calls main of predict.py in a folder, and returns the exit status."""
    defaults = {
        "model": str(models[kind]),
        "input_file": "in.jsonl",
        "output_file": output,
    }
    with contextlib.chdir(folder):
        config = PredictConfig.from_values(**defaults | flags)
        return script.main(ParsedCommand(config))


@pytest.fixture
def predict(folder, export_folders):
    """(output, **flags) -> the exit status, with the replies in `folder`."""
    return functools.partial(run_in, folder, export_folders)


ENDINGS = ("jsonl", "csv", "npy", "csv.gz")


@pytest.fixture(scope="module")
def jobs(inputs, export_folders, tmp_path_factory):
    """{ending: contents of the five shards} of in.jsonl, by this process."""
    shards = {}
    for ending in ENDINGS:
        folder = tmp_path_factory.mktemp("job")
        shutil.copy(inputs / "in.jsonl", folder)
        output = f"out.{ending}"
        assert run_in(folder, export_folders, output, num_shards=5) == 1
        shards[ending] = [*shards_of(folder, "out").values()]
    return shards


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_bytes_do_not_depend_on_the_processes(
    ending, folder, export_folders, jobs
):
    done = script_runner.run(
        "predict.py",
        folder,
        model=export_folders["classifier"],
        input_file="in.jsonl",
        output_file=f"out.{ending}",
        num_processes=2,
        num_shards=5,
    )
    assert done.status == 1
    words = "1499 answered, 2 failed, 1 without text"
    assert f"{words}; wrote out-*-of-00005.{ending}" in done.stderr
    shards = [*shards_of(folder, "out").values()]
    assert len(shards) == 5
    assert shards == jobs[ending]
    assert not [*folder.glob("*.work"), *folder.glob("*.lock")]


@pytest.fixture(scope="module")
def whole_replies(inputs, export_folders, tmp_path_factory):
    """The replies to in.jsonl that one process wrote to one file."""
    path = tmp_path_factory.mktemp("whole") / "out.jsonl"
    assert run_in(inputs, export_folders, str(path)) == 1
    return output_files.read_json_lines(path)


def test_the_replies_are_those_of_one_file(jobs, whole_replies):
    lines = [line for part in jobs["jsonl"] for line in part.splitlines()]
    assert len(lines) == len(whole_replies) == 1501
    for line, reply in zip(lines, whole_replies, strict=True):
        row, expected = json.loads(line), dict(reply)
        probabilities = [*row.pop("probabilities", {}).values()]
        expected_probabilities = [*expected.pop("probabilities", {}).values()]
        np.testing.assert_allclose(
            probabilities, expected_probabilities, atol=1e-5
        )
        if "label" in expected and "predicted_label" not in expected:
            expected["predicted_label"] = expected.pop("label")
        assert row == expected


def test_a_table_has_the_columns_of_all_rows_and_replies(jobs, whole_replies):
    headers = {part.splitlines()[0] for part in jobs["csv"]}
    assert headers == {
        b"id,text,label,late,predicted_label,probabilities.no,"
        b"probabilities.maybe,probabilities.yes,num_wordpieces_cut,line,error"
    }
    cells = [
        row
        for part in jobs["csv"]
        for row in csv.DictReader(part.decode().splitlines())
    ]
    assert [row["id"] for row in cells] == [
        str(row.get("id", "")) for row in whole_replies
    ]
    assert cells[1491]["late"] == 'a "quoted" one'


def test_a_compressed_table_is_the_table(jobs):
    assert [gzip.decompress(shard) for shard in jobs["csv.gz"]] == jobs["csv"]


def test_a_failed_request_keeps_its_place_and_says_why(folder, predict):
    predict("bad.jsonl", num_shards=30, output_fields=["label"])
    rows = read_rows(folder, "bad")
    errors = [row for row in rows if "error" in row]
    assert [row["line"] for row in errors] == [12, 22]
    assert errors[0]["id"] == 11
    # The error names the field that the line has.
    assert "'text_a'" not in errors[0]["error"]


def test_an_empty_text_keeps_its_place_without_a_reply(folder, predict):
    predict("bad.jsonl", num_shards=30, output_fields=["label"])
    assert read_rows(folder, "bad")[7] == {"id": 7, "text": ""}


def test_a_label_of_the_input_is_not_replaced(folder, predict):
    predict("kept.jsonl", num_shards=30, output_fields=["label"])
    rows = read_rows(folder, "kept")
    assert rows[3].keys() == {"id", "text", "label", "predicted_label"}
    assert rows[3]["label"] == "mine"
    assert rows[4].keys() == {"id", "text", "predicted_label"}


def test_an_array_is_nan_where_there_is_no_reply(folder, predict):
    predict("nan.npy", num_shards=30)
    arrays = [np.load(path) for path in sorted(folder.glob("nan-*.npy"))]
    array = np.concatenate(arrays)
    assert array.shape == (1501, 3)
    # Row 20 of the array is line 22.
    is_nan = np.isnan(array).all(1)
    assert np.flatnonzero(is_nan).tolist() == [7, 11, 20]
    assert not np.isnan(array[~is_nan]).any()


@pytest.fixture
def tables(folder, predict):
    """The rows of each shard of a job that answers four tables."""
    status = predict("t.csv", input_file="part-*.csv", num_shards=99)
    assert status == 0
    return [
        [*csv.DictReader(shard.decode().splitlines())]
        for shard in shards_of(folder, "t").values()
    ]


def test_each_table_is_a_shard(tables):
    assert [len(rows) for rows in tables] == [50] * 4


def test_each_shard_has_the_columns_of_all_tables(tables):
    (columns,) = {tuple(rows[0]) for rows in tables}
    assert columns[:4] == ("id", "text", "label", "predicted_label")
    assert columns[-3:] == ("file", "line", "error")


def test_a_column_is_empty_in_the_shard_of_a_table_without_it(tables):
    assert {row["label"] for row in tables[2]} == {"mine"}
    assert {row["label"] for row in tables[1]} == {""}


def test_parquet_is_answered_by_groups_of_rows(folder, predict):
    pyarrow = pytest.importorskip(
        "pyarrow", reason="needs requirements/tables.txt"
    )
    from pyarrow import parquet

    rng = random.Random(4)
    columns = {
        "id": range(200),
        "text": [make_text(rng) for _ in range(199)] + [None],
        "more": [None] * 100 + [{"a": 1}] * 100,
    }
    table = pyarrow.table(columns)
    parquet.write_table(table, folder / "in.parquet", row_group_size=50)
    predict("p.csv", input_file="in.parquet", num_shards=4)
    predict("whole.csv", input_file="in.parquet")
    parts = shards_of(folder, "p").values()
    rows = [
        row
        for part in parts
        for row in csv.DictReader(part.decode().splitlines())
    ]
    assert len(parts) == 4
    with (folder / "whole.csv").open() as file:
        for row, expected in zip(rows, csv.DictReader(file), strict=True):
            for name in ("id", "text", "more.a", "label"):
                assert row[name] == expected[name]


@pytest.mark.parametrize("kind", ["ner", "squad", "pretraining", "features"])
def test_every_task_has_its_columns_before_the_first_reply(
    kind, folder, predict
):
    texts = [" ".join(WORDS * n) + " [MASK]" for n in (1, 9, 2)]
    fields = ("question", "context") if kind == "squad" else ("text",)
    with (folder / f"{kind}.jsonl").open("w") as file:
        for text in [*texts, ""]:
            file.write(json.dumps(dict.fromkeys(fields, text)) + "\n")
    flags = {"kind": kind, "input_file": f"{kind}.jsonl"}
    assert predict(f"{kind}.csv", **flags) == 0
    assert predict(f"{kind}_all.csv", num_shards=1, **flags) == 0
    with (folder / f"{kind}.csv").open() as file:
        expected = [*csv.DictReader(file)]
    (part,) = shards_of(folder, f"{kind}_all").values()
    rows = [*csv.DictReader(part.decode().splitlines())]
    for row, expected_row in zip(rows, expected, strict=True):
        assert row.keys() - expected_row.keys() <= {
            "num_wordpieces_cut",
            "num_masks_cut",
            "line",
            "error",
        }
        assert {name: row[name] for name in expected_row} == expected_row


# Flags of the job that the next tests begin with.
THREE_SHARDS = {"num_shards": 3, "output_fields": ["label"]}


@pytest.fixture(scope="module")
def finished_once(inputs, export_folders, tmp_path_factory):
    """Folder of a job that has written its shards. No test changes it."""
    folder = tmp_path_factory.mktemp("finished") / "bulk"
    shutil.copytree(inputs, folder)
    assert run_in(folder, export_folders, "done.csv", **THREE_SHARDS) == 1
    return folder


@pytest.fixture
def finished_folder(finished_once, tmp_path):
    """A copy of the folder of a finished job for one test."""
    return shutil.copytree(finished_once, tmp_path / "bulk")


@pytest.fixture
def repeat(finished_folder, export_folders):
    """(**changed flags) -> the exit status of the finished job's command."""

    def run_again(**changes):
        return run_in(
            finished_folder,
            export_folders,
            "done.csv",
            **THREE_SHARDS | changes,
        )

    return run_again


def test_a_finished_job_is_not_repeated(finished_folder, repeat, caplog):
    before = output_files.snapshot(finished_folder)
    with caplog.at_level("INFO"):
        assert repeat(num_processes=2) == 1
    assert "already wrote done-*-of-00003.csv" in caplog.text
    assert output_files.snapshot(finished_folder) == before


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"batch_size": 4}, "was written with --batch_size=32; use another"),
        ({"kind": "features"}, "--task=classify, another model; use another"),
        ({"input_file": "changed.jsonl"}, "other input files"),
    ],
    ids=["batches", "model", "inputs"],
)
def test_another_job_does_not_replace_a_finished_one(
    changes, says, finished_folder, repeat
):
    (finished_folder / "changed.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(ValueError, match=says):
        repeat(**changes)


def test_a_damaged_shard_is_written_again(finished_folder, repeat, caplog):
    path = finished_folder / "done-00001-of-00003.csv"
    contents = path.read_bytes()
    path.write_bytes(contents[:-1])
    with caplog.at_level("INFO"):
        assert repeat() == 1
    assert "; wrote done" in caplog.text
    assert path.read_bytes() == contents


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param(
            {"input_file": "part-0.csv,no_text.csv"},
            ("no_text.csv", "'text_a'"),
            id="a table without a text",
        ),
        pytest.param(
            {"input_file": "part-0.csv,open.csv"},
            ("open.csv, line 3",),
            id="an open quote",
        ),
        pytest.param(
            {"input_file": "cut.jsonl.gz"},
            ("cut.jsonl.gz", "damaged"),
            id="a file that is cut",
        ),
        pytest.param(
            {"output_fields": ["vector"]},
            ("--output_fields=vector", "label"),
            id="a field of no reply",
        ),
        pytest.param(
            {"output_fields": ["label"], "output_format": "npy"},
            ("float",),
            id="an array of texts",
        ),
        pytest.param(
            {"text_column": "absent", "input_file": "part-0.csv"},
            ("'absent'",),
            id="a column of no table",
        ),
        pytest.param({"input_file": None}, ("--input_file",), id="no input"),
        pytest.param({"output": None}, ("--output_file",), id="no output"),
        pytest.param({"output": "gs://a/b.csv"}, ("local",), id="a bucket"),
    ],
)
def test_wrong_inputs_are_refused_before_the_first_reply(
    flags, words, folder, predict
):
    (folder / "no_text.csv").write_text("id,other,more\n1,2,3\n")
    (folder / "open.csv").write_text('text,id\na,1\n"b\n' + "c,1\n" * 50)
    (folder / "cut.jsonl.gz").write_bytes(
        gzip.compress((folder / "in.jsonl").read_bytes())[:-200]
    )
    before = output_files.snapshot(folder)
    given = {"output": "no.csv", "num_shards": 3}
    first_word, *other_words = words
    with pytest.raises(
        (ValueError, OSError), match=re.escape(first_word)
    ) as raised:
        predict(**given | flags)
    assert all(word in str(raised.value) for word in other_words)
    assert output_files.snapshot(folder) == before


def test_an_input_is_not_replaced(folder, predict):
    (folder / "same-00000-of-00001.csv").write_text("text\na\n")
    flags = {"input_file": "same-00000-of-00001.csv", "num_shards": 1}
    with pytest.raises(ValueError, match="would replace") as raised:
        predict("same.csv", **flags)
    assert flags["input_file"] in str(raised.value)
