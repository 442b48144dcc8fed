"""predict.py in tasks and processes: the same bytes, whatever happens.

sharded_job.py runs the tasks, and schema.py finds the columns that all need.
"""

import contextlib
import csv
import functools
import gzip
import json
import multiprocessing
import os
import random
import shutil
from concurrent import futures

import numpy as np
import pytest

from data.jobs import workers
from data.tables.options import LayoutOptions
from serving import text_model
from serving.bulk import answer_settings, job
from serving.serving_flags import TaskFlags
from tests.support import script_runner
from tests.support.bulk_files import WORDS, make_text, shards_of
from tests.support.exports import relabel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """JSON lines and tables of the same texts, with bad rows and empty texts.

    Row 7 has an empty text, and row 11 no text. Only row 1490 has the key
    "late", and only row 3 a "label" of its own.
    """
    folder = tmp_path_factory.mktemp("bulk")
    rng = random.Random(3)
    rows = [{"id": i, "text": make_text(rng)} for i in range(1500)]
    rows[7]["text"] = ""
    rows[11]["text"] = 5
    rows[3]["label"] = "mine"
    rows[1490]["late"] = 'a "quoted" one'
    lines = [json.dumps(row) for row in rows]
    # Line 22 is no JSON, and blank lines are no rows.
    lines[20:20] = ["", "{"]
    (folder / "in.jsonl").write_text("\n".join(lines))
    for part in range(4):
        with (folder / f"part-{part}.csv").open("w") as file:
            names = ["id", "text", *["label"] * (part == 2)]
            writer = csv.writer(file)
            writer.writerow(names)
            for row in rows[part * 50 : part * 50 + 50]:
                cells = [row["id"], row["text"], *["mine"] * (part == 2)]
                writer.writerow(cells)
    return folder


@pytest.fixture(scope="module")
def predict(folder, folders):
    """(output, flags) -> the Done of predict.py in a folder of its own."""

    def run(output, kind="classifier", **flags):
        flags = {"input_file": "in.jsonl", **flags}
        return script_runner.run(
            "predict.py",
            folder,
            model=folders[kind],
            output_file=output,
            **flags,
        )

    return run


def read_rows(folder, stem):
    """Returns the rows of all shards of JSON lines."""
    parts = shards_of(folder, stem).values()
    return [json.loads(line) for part in parts for line in part.splitlines()]


ENDINGS = ("jsonl", "csv", "npy", "csv.gz")


@pytest.fixture(scope="module")
def jobs(folder, predict):
    """{ending: contents of the five shards} of in.jsonl, by one process."""
    outcome = {}
    for ending in ENDINGS:
        answer_in_shards(predict, f"one.{ending}", num_processes=1)
        outcome[ending] = [*shards_of(folder, "one").values()]
        for path in folder.glob("one-*"):
            path.unlink()
    return outcome


def answer_in_shards(predict, name, num_processes):
    """Answers in.jsonl in five shards, and checks what is said of it."""
    stem, _, ending = name.partition(".")
    done = predict(name, num_processes=num_processes, num_shards=5)
    assert done.status == 1
    words = "1499 answered, 2 failed, 1 without text"
    assert f"{words}; wrote {stem}-*-of-00005.{ending}" in done.stderr


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_bytes_do_not_depend_on_the_processes(
    ending, folder, predict, jobs
):
    answer_in_shards(predict, f"two.{ending}", num_processes=2)
    made = [*shards_of(folder, "two").values()]
    for path in folder.glob("two-*"):
        path.unlink()
    assert len(made) == 5 and made == jobs[ending]
    assert not [*folder.glob("*.work"), *folder.glob("*.lock")]


@pytest.fixture(scope="module")
def whole(folder, predict):
    """The answers to in.jsonl that one process wrote to one file."""
    assert predict("whole.jsonl").status == 1
    return script_runner.read_lines(folder / "whole.jsonl")


def test_the_answers_are_those_of_one_file(jobs, whole):
    lines = [line for part in jobs["jsonl"] for line in part.splitlines()]
    assert len(lines) == len(whole) == 1501
    for line, answer in zip(lines, whole, strict=True):
        row, expected = json.loads(line), dict(answer)
        numbers = [*row.pop("probabilities", {}).values()]
        wanted = [*expected.pop("probabilities", {}).values()]
        np.testing.assert_allclose(numbers, wanted, atol=1e-5)
        if "label" in expected and "predicted_label" not in expected:
            expected["predicted_label"] = expected.pop("label")
        assert row == expected


def test_a_table_has_the_columns_of_all_rows_and_answers(jobs, whole):
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
        str(row.get("id", "")) for row in whole
    ]
    assert cells[1491]["late"] == 'a "quoted" one'


def test_a_packed_table_is_the_table(jobs):
    assert [gzip.decompress(shard) for shard in jobs["csv.gz"]] == jobs["csv"]


def test_rows_without_answer_keep_their_place_and_say_why(folder, predict):
    predict("bad.jsonl", num_shards=30, output_fields="label")
    rows = read_rows(folder, "bad")
    errors = [row for row in rows if "error" in row]
    assert [row["line"] for row in errors] == [12, 22]
    assert errors[0]["id"] == 11 and "'text_a'" not in errors[0]["error"]
    assert rows[7] == {"id": 7, "text": ""}


def test_a_label_of_the_input_is_not_replaced(folder, predict):
    predict("kept.jsonl", num_shards=30, output_fields="label")
    rows = read_rows(folder, "kept")
    assert rows[3].keys() == {"id", "text", "label", "predicted_label"}
    assert rows[3]["label"] == "mine"
    assert rows[4].keys() == {"id", "text", "predicted_label"}


def test_an_array_is_nan_where_there_is_no_answer(folder, predict):
    predict("nan.npy", num_shards=30)
    arrays = [np.load(path) for path in sorted(folder.glob("nan-*.npy"))]
    array = np.concatenate(arrays)
    assert array.shape == (1501, 3)
    # Row 20 of the array is line 22.
    is_nan = np.isnan(array).all(1)
    assert np.flatnonzero(is_nan).tolist() == [7, 11, 20]
    assert not np.isnan(array[~is_nan]).any()


def test_each_table_is_a_shard_with_the_columns_of_all(folder, predict):
    done = predict("t.csv", input_file="part-*.csv", num_shards=99)
    assert done.status == 0, done.stderr
    parts = shards_of(folder, "t")
    assert len(parts) == 4
    rows = [
        [*csv.DictReader(shard.decode().splitlines())]
        for shard in parts.values()
    ]
    assert [len(part) for part in rows] == [50] * 4
    assert len({tuple(part[0]) for part in rows}) == 1
    assert [*rows[0][0]][:4] == ["id", "text", "label", "predicted_label"]
    assert [*rows[0][0]][-3:] == ["file", "line", "error"]
    assert {row["label"] for row in rows[2]} == {"mine"}
    assert {row["label"] for row in rows[1]} == {""}


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
    outcome = [
        row
        for part in parts
        for row in csv.DictReader(part.decode().splitlines())
    ]
    assert len(parts) == 4
    with (folder / "whole.csv").open() as file:
        for row, expected in zip(outcome, csv.DictReader(file), strict=True):
            for name in ("id", "text", "more.a", "label"):
                assert row[name] == expected[name]


@pytest.mark.parametrize("kind", ["ner", "squad", "pretraining", "features"])
def test_every_task_has_its_columns_before_the_first_answer(
    kind, folder, predict
):
    texts = [" ".join(WORDS * n) + " [MASK]" for n in (1, 9, 2)]
    fields = ("question", "context") if kind == "squad" else ("text",)
    with (folder / f"{kind}.jsonl").open("w") as file:
        for text in [*texts, ""]:
            file.write(json.dumps(dict.fromkeys(fields, text)) + "\n")
    flags = {"kind": kind, "input_file": f"{kind}.jsonl"}
    assert predict(f"{kind}.csv", **flags).status == 0
    done = predict(f"{kind}_all.csv", num_shards=1, **flags)
    assert done.status == 0, done.stderr
    with (folder / f"{kind}.csv").open() as file:
        expected = [*csv.DictReader(file)]
    (part,) = shards_of(folder, f"{kind}_all").values()
    outcome = [*csv.DictReader(part.decode().splitlines())]
    for row, wanted in zip(outcome, expected, strict=True):
        assert row.keys() - wanted.keys() <= {
            "num_wordpieces_cut",
            "num_masks_cut",
            "line",
            "error",
        }
        assert {name: row[name] for name in wanted} == wanted


@pytest.fixture
def finished(folder, predict):
    """The flags of a job that has written its three shards."""
    flags = {"num_shards": 3, "output_fields": "label"}
    predict("done.csv", **flags)
    return flags


def test_a_finished_job_is_not_repeated(folder, predict, finished):
    before = script_runner.snapshot(folder)
    done = predict("done.csv", num_processes=2, **finished)
    assert done.status == 1
    assert "already wrote done-*-of-00003.csv" in done.stderr
    assert script_runner.snapshot(folder) == before


def test_another_job_does_not_replace_a_finished_one(folder, predict, finished):
    (folder / "changed.jsonl").write_text('{"text": "a"}\n')
    for changes, says in (
        ({"batch_size": 4}, "was written with --batch_size=32; use another"),
        ({"kind": "features"}, "--task=classify, another model; use another"),
        ({"input_file": "changed.jsonl"}, "other input files"),
    ):
        assert says in predict("done.csv", **finished | changes).error


def test_a_damaged_shard_is_written_again(folder, predict, finished):
    path = folder / "done-00001-of-00003.csv"
    contents = path.read_bytes()
    path.write_bytes(contents[:-1])
    assert "; wrote done" in predict("done.csv", **finished).stderr
    assert path.read_bytes() == contents


def test_what_is_wrong_is_said_before_the_first_answer(folder, predict):
    (folder / "no_text.csv").write_text("id,other,more\n1,2,3\n")
    (folder / "open.csv").write_text('text,id\na,1\n"b\n' + "c,1\n" * 50)
    (folder / "cut.jsonl.gz").write_bytes(
        gzip.compress((folder / "in.jsonl").read_bytes())[:-200]
    )
    cases = [
        ({"input_file": "part-0.csv,no_text.csv"}, "no_text.csv", "'text_a'"),
        ({"input_file": "part-0.csv,open.csv"}, "open.csv, line 3"),
        ({"input_file": "cut.jsonl.gz"}, "cut.jsonl.gz", "damaged"),
        ({"output_fields": "vector"}, "--output_fields=vector", "label"),
        ({"output_fields": "label", "output_format": "npy"}, "float"),
        ({"text_column": "absent", "input_file": "part-0.csv"}, "'absent'"),
        ({"input_file": None}, "--input_file"),
        ({"output_file": None}, "--output_file"),
        ({"output_file": "gs://a/b.csv"}, "local"),
    ]
    before = script_runner.snapshot(folder)
    for flags, *words in cases:
        flags = {"output_file": "no.csv", "num_processes": 1, **flags}
        error = predict(flags.pop("output_file"), **flags).error
        assert all(word in error for word in words), error
    assert script_runner.snapshot(folder) == before


def test_an_input_is_not_replaced(folder, predict):
    (folder / "same-00000-of-00001.csv").write_text("text\na\n")
    error = predict(
        "same.csv", input_file="same-00000-of-00001.csv", num_shards=1
    ).error
    assert "would replace" in error and "same-00000-of-00001.csv" in error


def settings_for(path):
    """Returns how a job asks a classifier, as predict.py sets it."""
    model = text_model.load_once(path, 1, None)
    return answer_settings.AnswerSettings(
        model=model.path,
        checksum=model.checksum,
        engine=model.engine.name,
        num_threads=1,
        task="classify",
        options=TaskFlags(),
        layout=LayoutOptions(),
        input_format=None,
        columns=(None, None),
        batch_size=8,
        output_format="jsonl",
        output_fields=(),
    )


@pytest.fixture
def answer_with(folder, folders, tmp_path, monkeypatch):
    """(name, function that runs tasks) -> the counts and {shard: content}."""
    for name in ("in.jsonl", "part-1.csv"):
        shutil.copy(folder / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    settings = settings_for(os.path.relpath(folders["classifier"]))

    def answer(name, run):
        paths = ["in.jsonl", "part-1.csv"]
        result = job.answer_files(settings, paths, f"{name}.jsonl", 6, run)
        return result.counts, shards_of(tmp_path, name)

    return answer


run_once = functools.partial(workers.run_in_processes, num_processes=1)


def run_twice(function, tasks):
    """Runs each task twice, at the same time."""
    tasks = [task for task in tasks for _ in range(2)]
    return workers.run_in_processes(function, tasks, 2)


def run_elsewhere(function, tasks):
    """Runs in another folder, as workers of a cluster may."""
    for task in tasks:
        with contextlib.chdir("/"):
            yield function(*task)


def test_the_counts_are_of_rows_failed_requests_and_empty_texts(answer_with):
    counts, shards = answer_with("once", run_once)
    assert counts == (1551, 2, 1)
    assert len(shards) == 6
    assert b'"file": "in.jsonl", "line": 12' in b"".join(shards.values())


@pytest.mark.parametrize("run", [run_twice, run_elsewhere])
def test_tasks_that_run_twice_or_elsewhere_write_the_same(run, answer_with):
    assert answer_with("other", run) == answer_with("once", run_once)


def test_a_worker_that_lives_on_loads_a_new_model(
    folder, folders, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(folder / "part-1.csv", tmp_path)
    shutil.copytree(folders["classifier"], "model")
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, context) as pool:

        def run(function, tasks):
            yield from pool.map(function, *zip(*tasks, strict=True))

        for name in ("first.jsonl", "second.jsonl"):
            settings = settings_for("model")
            job.answer_files(settings, ["part-1.csv"], name, 1, run)
            relabel("model", ["a", "b", "c"])
    first, second = (
        {row["label"] for row in read_rows(tmp_path, stem)}
        for stem in ("first", "second")
    )
    assert first <= {"no", "maybe", "yes"} and second <= {"a", "b", "c"}
