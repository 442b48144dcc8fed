"""predict.py on tables: forms of files, shards, and runs that are killed."""

import csv
import gzip
import io
import os
import re
import resource
import signal
import subprocess
import sys
import types

import numpy as np
import pytest

import predict as script
from serving import answer_files
from serving.answers import open_unfinished
from tests import script_runner
from tests.golden import ROOT

NUM_ROWS = 150
TEXTS = [f"The boat {'of the sea ' * (i % 5)}{i}." for i in range(NUM_ROWS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of the same texts."""
    folder = tmp_path_factory.mktemp("tables")
    lines = [f"{i};{text}\n" for i, text in enumerate(TEXTS)]
    (folder / "in.csv").write_text("id;review\n" + "".join(lines))
    for name, part in (("1.csv", lines[:70]), ("2.csv", lines[70:])):
        (folder / name).write_text("id;review\n" + "".join(part))
    (folder / "in.txt.gz").write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    return folder


@pytest.fixture(scope="module")
def predict(folder, folders):
    """Runs predict.py on the classifier."""

    def run(kill_when=lambda: False, **flags):
        defaults = {"model": folders["classifier"], "text_column": "review"}
        flags = defaults | {"batch_size": 4} | flags
        return script_runner.run(
            "predict.py", folder, kill_when=kill_when, **flags
        )

    return run


@pytest.fixture(scope="module")
def answers(folder, predict):
    """The answers to all rows, as JSON lines."""
    done = predict(input_file="in.csv", output_file="all.jsonl").check()
    assert f"Predicting row 4 of {NUM_ROWS}  rows/s " in done.stderr
    assert "150 lines answered, 0 failed; wrote all.jsonl" in done.stderr
    assert not [*folder.glob("*.unfinished*")]
    found = script_runner.read_lines(folder / "all.jsonl")
    assert [answer["id"] for answer in found] == [*map(str, range(NUM_ROWS))]
    return found


def test_forms_of_answers(folder, predict, answers):
    pytest.importorskip("pyarrow", reason="needs requirements/tables.txt")
    from pyarrow import Table, parquet

    rows = [
        {"id": i, "review": text, "more": None} for i, text in enumerate(TEXTS)
    ]
    parquet.write_table(Table.from_pylist(rows), folder / "in.parquet")
    outputs = ["out.csv", "out.parquet", "out.npy", "out.csv.gz"]
    for output in outputs:
        predict(input_file="in.parquet", output_file=output).check()
    text = (folder / "out.csv").read_text()
    assert (
        gzip.decompress((folder / "out.csv.gz").read_bytes()) == text.encode()
    )
    good = [list(each["probabilities"].values()) for each in answers]
    array = np.load(folder / "out.npy")
    assert array.dtype == np.float32 and array.shape == (NUM_ROWS, 3)
    np.testing.assert_allclose(array, good, atol=1e-5)
    names = ["no", "maybe", "yes"]
    columns = ["id", "label", *(f"probabilities.{name}" for name in names)]
    header, *cells = csv.reader(text.splitlines())
    table = parquet.read_table(folder / "out.parquet")
    assert header == table.column_names == columns
    for row, given, answer in zip(
        cells, table.to_pylist(), answers, strict=True
    ):
        assert row == [*map(str, given.values())]
        assert (str(given["id"]), row[1]) == (answer["id"], answer["label"])


def test_a_killed_run_continues_with_the_same_bytes(folder, predict):
    # So many rows that they take seconds, or the run ends before it is killed.
    lines = [f"{i};{TEXTS[i % NUM_ROWS]}\n" for i in range(20_000)]
    (folder / "many.csv").write_text("id;review\n" + "".join(lines))
    flags = {"input_file": "1.csv,many.csv"}
    predict(output_file="many.jsonl", **flags).check()
    flags["output_file"] = "killed.jsonl"
    unfinished = folder / "killed.jsonl.unfinished"

    def has_begun():
        return unfinished.exists() and unfinished.read_bytes().count(b"\n") > 50

    killed = predict(kill_when=has_begun, **flags)
    assert killed.status == -signal.SIGKILL
    assert not (folder / "killed.jsonl").exists()
    with unfinished.open("ab") as file:
        # As a batch that was being written.
        file.write(b'{"label": "n')
    done = predict(**flags).check()
    assert "An earlier run has answered " in done.stderr
    assert "20070 lines answered" in done.stderr
    good = (folder / "many.jsonl").read_bytes()
    assert (folder / "killed.jsonl").read_bytes() == good
    assert not [*folder.glob("killed.jsonl?*")]


def test_other_flags_begin_again_and_users_files_stay(folder, predict, answers):
    unfinished = folder / "again.jsonl.unfinished"
    unfinished.write_text(
        '{"unfinished": {"flags": {"batch_size": 9}}}\n{"a": 1}\n'
    )
    flags = {"input_file": "in.csv", "output_file": "again.jsonl"}
    done = predict(**flags).check()
    assert (
        "written with different flags, or for a different input or model"
        in done.stderr
    )
    good = (folder / "all.jsonl").read_bytes()
    assert (folder / "again.jsonl").read_bytes() == good
    unfinished.write_text("my notes")
    assert "is not a file that predict.py wrote" in predict(**flags).error
    assert unfinished.read_text() == "my notes"
    unfinished.unlink()


def test_shards_follow_one_another(folder, predict, answers):
    found, flags = b"", {"input_file": "1.csv,2.csv"}
    for shard in ("1/2", "2/2"):
        output = f"{shard[0]}.jsonl"
        predict(output_file=output, shard=shard, **flags).check()
        found += (folder / output).read_bytes()
    # The batches of two files are those of one.
    assert found == (folder / "all.jsonl").read_bytes()


def test_bad_rows_of_tables(folder, predict):
    lines = ["id,review", "1,a", "2", *(f"{i},\udcff" for i in range(3, 20))]
    text = "\n".join(lines)
    (folder / "bad.csv").write_text(text, errors="surrogateescape")
    (folder / "good.csv").write_text("id,review\n7,a")
    flags = {"input_file": "bad.csv,good.csv", "output_file": "bad_out.csv"}
    done = predict(keep_going=True, **flags).check()
    assert "bad.csv, line 3: the line has 1 columns" in done.stderr
    assert done.stderr.count("is not UTF-8") == 9
    assert "2 lines answered, 18 failed" in done.stderr
    rows = [*csv.DictReader((folder / "bad_out.csv").open())]
    assert [*rows[0]][-3:] == ["file", "line", "error"]
    assert [row["line"] for row in rows] == ["", *map(str, range(3, 21)), ""]
    flags = {**flags, "output_file": "bad.npy"}
    # The answers are there, and the exit status tells that some are not.
    assert predict(output_fields="probabilities", **flags).status == 1
    is_nan = np.isnan(np.load(folder / "bad.npy")).all(1)
    assert [*is_nan] == [False, *[True] * 18, False]


@pytest.mark.parametrize(
    "flags, message",
    [
        (
            {"text_column": None},
            "column named 'text_a' or 'text'; its columns are 'id', 'review'",
        ),
        (
            {"input_file": "none.jsonl"},
            "line 1: the row has no 'review', only the fields",
        ),
        (
            {"input_file": "none.jsonl", "text_column": None},
            "no row can be answered; line 1: 'text_a' is missing; the fields",
        ),
        (
            {"input_file": "2.jsonl", "text_column": None, "strict": True},
            "line 2: 'text_a' is missing; the fields of classify are text_a,",
        ),
        (
            {"input_file": "open.csv"},
            "open.csv, line 3: unexpected end of data",
        ),
        ({"shard": "0/2"}, "--shard=0/2 must be I/N: part I"),
        (
            {"input_file": None, "shard": "1/2"},
            "--shard=1/2 needs an input that",
        ),
        (
            {"input_file": None, "input_format": "parquet"},
            "parquet needs --input_file",
        ),
        ({"input_file": "a.csv,absent"}, "no file matches 'a.csv'"),
        (
            {"output_fields": ["vector"]},
            "found no field 'vector'; choose from label, probabilities",
        ),
        (
            {"output_fields": ["label"], "output_format": "npy"},
            "'label' is not numeric, so npy cannot store it. Received: ",
        ),
        (
            {"model": "features", "text_b_column": "id"},
            "--text_b_column=id: the only fields of embed are text; omit",
        ),
        ({"top_k": 3}, "--top_k is not used by the task classify"),
    ],
)
def test_what_is_wrong_is_one_error(
    flags, message, folder, folders, monkeypatch
):
    monkeypatch.chdir(folder)
    (folder / "none.jsonl").write_text('{"txt": "a"}\n' * 50)
    (folder / "2.jsonl").write_text('{"text": "a"}\n{"txt": "a"}\n')
    (folder / "open.csv").write_text('review\na\n"b\n' + "c\n" * 50)
    defaults = {"input_file": "in.csv", "text_column": "review"}
    flags = {"model": "classifier", "output_file": "no.out"} | defaults | flags
    config = script.Config(**flags | {"model": str(folders[flags["model"]])})
    with pytest.raises((OSError, ValueError), match=re.escape(message)):
        script.main(config, [])
    assert not [*folder.glob("no.out*")]


def test_lines_of_text(folder, predict, answers, folders):
    flags = {"text_column": None, "output_file": "text.jsonl"}
    predict(input_file="in.txt.gz", **flags).check()
    found = script_runner.read_lines(folder / "text.jsonl")
    assert found == [{k: v for k, v in a.items() if k != "id"} for a in answers]
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "predict.py", "--output_format=csv"),
            f"--model={folders['classifier']}",
        ],
        input="The boat.\n\nThe sea.\n",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [
        row["label"] in ("no", "maybe", "yes")
        for row in csv.DictReader(done.stdout.splitlines())
    ] == [True, True]


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    path = str(tmp_path / "out.csv")
    with pytest.raises(OSError, match=r"File too large: .*out.csv.unfinished"):
        with open_unfinished(path, {}) as file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (99, hard))
            try:
                file.write(b"a" * 999)
                file.flush()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    # It stays for the next run.
    assert os.path.exists(f"{path}.unfinished")
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(buffer=full))
        with pytest.raises(OSError, match="No space left .*standard output"):
            answer_files.write(io.BytesIO(b'{"a": 1}\n'), "csv", None)
