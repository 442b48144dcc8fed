"""predict.py in tasks and processes, when it is killed or its model changes."""

import contextlib
import os
import shutil
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import (
    fresh_process,
    output_files,
    script_runner,
    waiting,
)
from tests.support.serving.bulk_files import shards_of, write_texts

FLAGS = {
    "input_file": "in.txt",
    "output_file": "out.jsonl",
    "num_shards": 40,
    "num_processes": 2,
}


@contextlib.contextmanager
def started(folder, model, num_units):
    """A running job that has finished at least this number of its 40 units."""
    flags = FLAGS | {"model": model}
    with script_runner.start("predict.py", folder, **flags) as script:
        work = folder / "out.jsonl.work"
        script.wait_for_files(work, "unit-*.json", num_units)
        yield script


@pytest.fixture(scope="module")
def many_texts(tmp_path_factory):
    """A folder with 60,000 texts."""
    folder = tmp_path_factory.mktemp("many")
    write_texts(folder / "in.txt", 60_000)
    return folder


class Resumed(NamedTuple):
    """A job that was ended by a signal, and resumed."""

    folder: Path
    done: fresh_process.ProcessResult
    # The names in the folder at the end of the command, the numbers of the
    # units that it had finished, and the snapshot of the folder.
    names: set[str]
    units: list[str]
    files: dict


@pytest.fixture(scope="module", params=[signal.SIGKILL, signal.SIGTERM])
def resumed_job(request, many_texts, export_folders, tmp_path_factory):
    """A Resumed job, whose workers ended with it."""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("no /proc")
    folder = tmp_path_factory.mktemp("resumed")
    shutil.copy(many_texts / "in.txt", folder)
    flags = FLAGS | {"model": export_folders["classifier"]}
    with started(folder, flags["model"], num_units=5) as script:
        workers = waiting.list_children(script.pid)
        script.send(request.param)
        done = script.finish()
    names = {path.name for path in folder.iterdir()}
    waiting.wait_for_end(workers)
    work = folder / "out.jsonl.work"
    units = [path.name[5:10] for path in work.glob("unit-*.json")]
    files = output_files.snapshot(folder)
    script_runner.run("predict.py", folder, **flags).check()
    return Resumed(folder, done, names, units, files)


@pytest.mark.parametrize("resumed_job", [signal.SIGTERM], indirect=True)
def test_a_job_that_sigterm_ends_says_how_to_resume(resumed_job):
    assert resumed_job.done.status == 143
    last_line = resumed_job.done.stderr.splitlines()[-1]
    assert last_line.startswith("error: stopped by SIGTERM after ")
    assert last_line.endswith("of 40 units; run the same command to resume")
    assert not [name for name in resumed_job.names if ".partial-" in name]


def test_a_resumed_job_does_not_repeat_finished_units(resumed_job):
    assert 5 <= len(resumed_job.units) < 40
    files = output_files.snapshot(resumed_job.folder)
    for unit in resumed_job.units:
        path = resumed_job.folder / f"out-{unit}-of-00040.jsonl"
        assert files[path] == resumed_job.files[path]


def test_a_resumed_job_answers_as_an_undisturbed_one(
    resumed_job, export_folders, tmp_path
):
    """The folder has its input, 40 files of replies and their manifest."""
    folder = resumed_job.folder
    assert len([*folder.iterdir()]) == 42
    shards = shards_of(folder, "out")
    assert sum(shard.count(b"\n") for shard in shards.values()) == 60_000
    flags = FLAGS | {"model": export_folders["classifier"], "num_processes": 1}
    flags["output_file"] = "whole.jsonl"
    shutil.copy(folder / "in.txt", tmp_path)
    script_runner.run("predict.py", tmp_path, **flags).check()
    assert shards == shards_of(tmp_path, "whole")


def test_another_model_in_the_folder_ends_a_job(
    many_texts, export_folders, tmp_path
):
    shutil.copy(many_texts / "in.txt", tmp_path)
    model = shutil.copytree(export_folders["classifier"], tmp_path / "model")
    described = (model / "model.json").read_text()
    changed = tmp_path / "changed.json"
    changed.write_text(described.replace(": null", ": 1"))
    with started(tmp_path, model, num_units=3) as script:
        changed.replace(model / "model.json")
        error = script.finish().error
    assert f"{model} contains another model than when the job" in error
    (model / "model.json").write_text(described)
    script_runner.run("predict.py", tmp_path, model=model, **FLAGS).check()
    assert len(shards_of(tmp_path, "out")) == 40
