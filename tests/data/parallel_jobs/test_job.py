"""A job of a kind of its own: what it writes, how it resumes and fails."""

import dataclasses
import os
from pathlib import Path

import pytest

from data.parallel_jobs.job import Job, choose_unit_runner
from data.parallel_jobs.job_files import (
    JobPaths,
    Manifest,
    create_input_entries,
)
from files import lock
from files.json_files import read_json, write_json
from tests.data.parallel_jobs.conftest import Unit

run_here = choose_unit_runner(None, None)


class CopyManifest(Manifest):
    """The manifest of a CopyJob, with the number of its texts."""

    num_texts: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class CopyJob(Job[Unit, CopyManifest]):
    """Copies the text of each input to a shard."""

    wrong_input: str = ""

    progress_description = "Copying"

    @property
    def paths(self):
        return JobPaths(self.output_file)

    @property
    def manifest_type(self):
        return CopyManifest

    def describe(self):
        return {
            "version": 1,
            "flags": {"num_shards": self.num_shards},
            "inputs": create_input_entries(self.input_files),
        }

    def create_units(self):
        shards = self.paths.shard_paths(len(self.input_files))
        return [
            Unit([shard], self.paths.result_file(index), Path(path).read_text())
            for index, (path, shard) in enumerate(
                zip(self.input_files, shards, strict=True)
            )
        ]

    def combine_results(self, units, results):
        if self.wrong_input:
            raise ValueError(f"{self.wrong_input} is wrong")
        return {
            "shards": [result["shards"][0] for result in results],
            "num_texts": len(units),
        }


class DiscardingCopyJob(CopyJob):
    """Removes its shards if an input is wrong."""

    discards_failed_work = True


@pytest.fixture
def options(tmp_path, monkeypatch):
    """The arguments of a job of two inputs."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a")
    Path("b.txt").write_text("b")
    return {"input_files": ["a.txt", "b.txt"], "output_file": "out"}


def read_shards():
    """Returns the texts of the shards."""
    return [path.read_text() for path in sorted(Path().glob("out-*"))]


def test_a_job_leaves_its_shards_and_a_manifest(options):
    manifest, is_new = CopyJob(**options).run(run_here)
    assert is_new
    assert manifest["num_texts"] == 2
    assert read_json("out.manifest.json") == manifest
    assert read_shards() == ["a", "b"]
    assert not os.path.exists("out.work")


def test_a_finished_job_writes_nothing_again(options):
    manifest, _ = CopyJob(**options).run(run_here)
    assert CopyJob(**options).run(run_here) == (manifest, False)


def test_a_job_with_a_damaged_shard_writes_this_shard_again(options):
    CopyJob(**options).run(run_here)
    os.remove("out-00001-of-00002")
    _, is_new = CopyJob(**options).run(run_here)
    assert is_new
    assert read_shards() == ["a", "b"]


def test_a_job_with_another_flag_is_refused(options):
    CopyJob(**options).run(run_here)
    with pytest.raises(ValueError, match="written with --num_shards=0"):
        CopyJob(**options, num_shards=3).run(run_here)


def test_a_job_that_would_replace_an_input_is_refused(options):
    shard = "out-00000-of-00002"
    Path(shard).write_text("text of the user")
    job = CopyJob(**options | {"input_files": [shard, "b.txt"]})
    with pytest.raises(ValueError, match=f"would replace .*{shard}"):
        job.run(run_here)
    assert read_shards() == ["text of the user"]


def test_an_output_that_another_process_writes_is_refused(options):
    with (
        lock.hold_lock("out.lock", "--output_file=out"),
        pytest.raises(OSError, match="--output_file=out"),
    ):
        CopyJob(**options).run(run_here)


def test_after_a_wrong_input_a_job_keeps_its_work_to_resume(options):
    with pytest.raises(ValueError, match=r"b\.txt is wrong"):
        CopyJob(**options, wrong_input="b.txt").run(run_here)
    assert read_shards() == ["a", "b"]
    assert os.path.exists("out.work/unit-00001.json")


def test_after_a_wrong_input_a_job_may_discard_its_work(options):
    with pytest.raises(ValueError, match=r"b\.txt is wrong"):
        DiscardingCopyJob(**options, wrong_input="b.txt").run(run_here)
    assert read_shards() == []
    assert not os.path.exists("out.work")


def test_a_damaged_result_file_does_not_discard_the_shards(options):
    job = DiscardingCopyJob(**options)
    write_json("out.work/job.json", job.describe())
    units = job.create_units()
    units[0].write_shards()
    Path(units[1].result_file).write_text("{}")
    with pytest.raises(ValueError, match=r"unit-00001\.json is damaged"):
        job.run(run_here)
    assert read_shards() == ["a"]
