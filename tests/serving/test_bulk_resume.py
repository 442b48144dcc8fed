"""predict.py in tasks and processes, when it is killed or its model changes."""

import contextlib
import os
import shutil
import signal

import pytest

from tests.support import script_runner
from tests.support.bulk_files import shards_of, write_texts

FLAGS = {
    "input_file": "in.txt",
    "output_file": "out.jsonl",
    "num_shards": 40,
    "num_processes": 2,
}


@contextlib.contextmanager
def started(folder, model, num_tasks):
    """A running job that has finished at least this number of its 40 tasks."""
    flags = FLAGS | {"model": model}
    with script_runner.start("predict.py", folder, **flags) as script:
        work = folder / "out.jsonl.work"
        script.wait_for_files(work, "task-*.json", num_tasks)
        yield script


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with 60,000 texts."""
    folder = tmp_path_factory.mktemp("many")
    write_texts(folder / "in.txt", 60_000)
    return folder


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="no /proc")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_that_was_ended_resumes(sent, many, folders, tmp_path):
    """Its workers end too, and what they finished is not written again."""
    shutil.copy(many / "in.txt", tmp_path)
    flags = FLAGS | {"model": folders["classifier"]}
    with started(tmp_path, flags["model"], num_tasks=5) as script:
        workers = script_runner.children(script.pid)
        script.send(sent)
        done = script.finish()
    if sent == signal.SIGTERM:
        assert done.status == 143
        last = done.stderr.splitlines()[-1]
        assert last.startswith("error: stopped by SIGTERM after ")
        assert last.endswith("of 40 tasks; run the same command to resume")
        assert not [*tmp_path.glob("*.partial-*")]
    script_runner.wait_for_end(workers)
    work = tmp_path / "out.jsonl.work"
    results = [path.name[5:10] for path in work.glob("task-*.json")]
    assert 5 <= len(results) < 40
    before = script_runner.snapshot(tmp_path)
    assert script_runner.run("predict.py", tmp_path, **flags).status == 0
    after = script_runner.snapshot(tmp_path)
    for result in results:
        path = tmp_path / f"out-{result}-of-00040.jsonl"
        assert after[path] == before[path]
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == 42
    flags["output_file"] = "whole.jsonl"
    flags["num_processes"] = 1
    script_runner.run("predict.py", tmp_path, **flags).check()
    made = shards_of(tmp_path, "out")
    assert made == shards_of(tmp_path, "whole")
    num_lines = sum(part.count(b"\n") for part in made.values())
    assert num_lines == 60_000


def test_another_model_in_the_folder_ends_a_job(many, folders, tmp_path):
    shutil.copy(many / "in.txt", tmp_path)
    model = shutil.copytree(folders["classifier"], tmp_path / "model")
    described = (model / "model.json").read_text()
    changed = tmp_path / "changed.json"
    changed.write_text(described.replace(": null", ": 1"))
    with started(tmp_path, model, num_tasks=3) as script:
        changed.replace(model / "model.json")
        error = script.finish().error
    assert f"{model} contains another model than when the job" in error
    (model / "model.json").write_text(described)
    script_runner.run("predict.py", tmp_path, model=model, **FLAGS).check()
    assert len(shards_of(tmp_path, "out")) == 40
