"""The units of predict.py, run by workers that are no processes of its own."""

import contextlib
import functools
import multiprocessing
import os
import shutil
from concurrent import futures

import pytest

from data.parallel_jobs import workers
from data.predictions.output_writer import OutputCounts
from data.tables.table_layout import LayoutOptions
from serving import model_cache
from serving.predict import bulk_setup
from serving.predict.bulk_job import BulkJob
from serving.text_model import TextModel
from serving.text_tasks.text_task import ReplyOptions
from tests.support.serving.bulk_files import read_rows, shards_of, write_inputs
from tests.support.serving.exports import relabel


def setup_for(path):
    """Returns how a job asks a classifier, as predict.py sets it."""
    model = model_cache.MODEL_CACHE.load(TextModel, path, 1, None)
    return bulk_setup.BulkSetup(
        model=bulk_setup.BulkModel(
            folder=model.path,
            checksum=model.checksum,
            engine=model.engine.name,
            num_threads=1,
        ),
        text_task_name="classify",
        reply_options=ReplyOptions(),
        batch_size=8,
        input=bulk_setup.BulkInput(
            format=None,
            layout_options=LayoutOptions(),
            text_columns=(None, None),
            has_several_files=True,
        ),
        output=bulk_setup.BulkOutput(format="jsonl", fields=()),
    )


@pytest.fixture
def reply_with(export_folders, tmp_path, monkeypatch):
    """(name, function that makes calls) -> the counts and {shard: content}."""
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    setup = setup_for(os.path.relpath(export_folders["classifier"]))

    def answer(name, run):
        job = BulkJob(
            setup=setup,
            input_files=["in.jsonl", "part-1.csv"],
            output_file=f"{name}.jsonl",
            num_shards=6,
        )
        counts = OutputCounts(**job.run(run).manifest["answers"])
        return counts, shards_of(tmp_path, name)

    return answer


run_once = functools.partial(workers.run_in_processes, num_processes=1)


def run_twice(function, calls):
    """Makes each call twice, at the same time."""
    calls = [arguments for arguments in calls for _ in range(2)]
    return workers.run_in_processes(function, calls, 2)


def run_elsewhere(function, calls):
    """Runs in another folder, as workers of a cluster may."""
    for arguments in calls:
        with contextlib.chdir("/"):
            yield function(*arguments)


def test_the_counts_are_of_rows_failed_requests_and_empty_texts(reply_with):
    counts, _ = reply_with("once", run_once)
    assert counts == OutputCounts(num_rows=1551, num_failed=2, num_empty=1)


def test_an_error_names_the_file_and_the_line_of_its_request(reply_with):
    _, shards = reply_with("once", run_once)
    assert b'"file": "in.jsonl", "line": 12' in b"".join(shards.values())


@pytest.mark.parametrize("run", [run_twice, run_elsewhere])
def test_a_unit_computed_again_or_elsewhere_writes_the_same_replies(
    run, reply_with
):
    assert reply_with("other", run) == reply_with("once", run_once)


def test_a_worker_of_two_jobs_loads_the_model_of_each(
    export_folders, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    shutil.copytree(export_folders["classifier"], "model")
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(1, context) as pool:

        def run(function, calls):
            yield from pool.map(function, *zip(*calls, strict=True))

        for name in ("first.jsonl", "second.jsonl"):
            job = BulkJob(
                setup=setup_for("model"),
                input_files=["part-1.csv"],
                output_file=name,
                num_shards=1,
            )
            job.run(run)
            relabel("model", ["a", "b", "c"])
    first, second = (
        {row["label"] for row in read_rows(tmp_path, stem)}
        for stem in ("first", "second")
    )
    assert first <= {"no", "maybe", "yes"}
    assert second <= {"a", "b", "c"}
