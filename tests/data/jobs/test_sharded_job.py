"""A job of units that write shards, resume, and list what they wrote.

data/jobs/manifest.py defines the entries of the files.
"""

import os
import signal
from typing import NamedTuple

import pytest

from command_line import signals
from data.io.file_checksums import compute_shard_checksum
from data.jobs.sharded_job import (
    JobFiles,
    choose_unit_runner,
    create_input_entries,
    is_done,
    run_units,
)
from files.json_files import read_json, write_json

DESCRIPTION = {
    "version": 1,
    "flags": {"seed": 5},
    "inputs": [{"path": "corpus.txt", "bytes": 3, "crc32c": "00000000"}],
}


class Unit(NamedTuple):
    """A unit that writes one shard, of the text whose CRC-32C is well known."""

    shards: list[str]
    result_file: str
    text: str = "123456789"


def write_shard(unit):
    """Writes the shard and the result file of a unit."""
    (path,) = unit.shards
    with open(path, "w") as file:
        file.write(unit.text)
    write_json(
        unit.result_file,
        {"shards": [compute_shard_checksum(path)], "counts": {"texts": 1}},
    )


@pytest.fixture
def output_file(tmp_path):
    """Path with which the names of the shards begin."""
    return str(tmp_path / "out.jsonl")


@pytest.fixture
def job(output_file):
    """The files of a job whose shards end in .jsonl."""
    return JobFiles(output_file, DESCRIPTION, ending=".jsonl")


@pytest.fixture
def units(job):
    """Two units of the job."""
    return [
        Unit([path], job.result_file(number))
        for number, path in enumerate(job.shard_paths(2))
    ]


def run_here(function, calls):
    """Runs the units in this process."""
    return choose_unit_runner(None, None)(function, calls)


@pytest.fixture
def finished_job(job, units):
    """The manifest of the job, all of whose units are done."""
    job.begin()
    results = run_units(units, write_shard, run_here)
    return job.finish({"shards": [result["shards"][0] for result in results]})


def test_the_ending_of_the_output_is_that_of_the_shards(job, tmp_path):
    assert job.shard_paths(2) == [
        f"{tmp_path}/out-00000-of-00002.jsonl",
        f"{tmp_path}/out-00001-of-00002.jsonl",
    ]
    assert job.pattern(2) == f"{tmp_path}/out-*-of-00002.jsonl"


def test_all_units_return_their_results(job, units):
    job.begin()
    results = run_units(units, write_shard, run_here)
    assert [result["counts"] for result in results] == [{"texts": 1}] * 2


def test_a_unit_that_is_done_does_not_run_again(job, units):
    job.begin()
    write_shard(units[0])
    written = []

    def write(unit):
        written.append(unit)
        write_shard(unit)

    run_units(units, write, run_here)
    assert written == [units[1]]


@pytest.mark.parametrize("contents", ["123456780", "1234", None])
def test_a_unit_whose_shard_is_damaged_is_not_done(job, units, contents):
    job.begin()
    write_shard(units[0])
    assert is_done(units[0])
    (path,) = units[0].shards
    os.remove(path)
    if contents is not None:
        with open(path, "w") as file:
            file.write(contents)
    assert not is_done(units[0])


def test_a_signal_says_how_many_units_are_done(job, units):
    job.begin()

    def write(unit):
        write_shard(unit)
        raise signals.SignalInterrupt(signal.SIGTERM)

    with pytest.raises(
        signals.SignalInterrupt, match="after 1 of 2 units; run the"
    ):
        run_units(units, write, run_here)


def test_the_manifest_lists_the_job_and_its_shards(finished_job, output_file):
    manifest = read_json(f"{output_file}.manifest.json")
    assert manifest == finished_job
    assert manifest == {
        **DESCRIPTION,
        "shards": [{"bytes": 9, "crc32c": "e3069283"}] * 2,
    }


def test_a_finished_job_leaves_only_its_shards_and_manifest(
    finished_job, tmp_path
):
    assert sorted(os.listdir(tmp_path)) == [
        "out-00000-of-00002.jsonl",
        "out-00001-of-00002.jsonl",
        "out.jsonl.manifest.json",
    ]


def test_a_finished_job_finds_its_manifest(job, finished_job):
    assert job.find_manifest() == finished_job


def test_a_moved_job_finds_its_manifest(finished_job, tmp_path):
    (tmp_path / "moved").mkdir()
    for path in tmp_path.glob("out*"):
        path.rename(tmp_path / "moved" / path.name)
    moved = JobFiles(
        str(tmp_path / "moved/out.jsonl"), DESCRIPTION, ending=".jsonl"
    )
    assert moved.find_manifest() == finished_job


def test_a_manifest_whose_shards_are_damaged_is_not_found(
    job, finished_job, units
):
    os.truncate(units[1].shards[0], 3)
    assert job.find_manifest() is None


def test_a_job_without_a_manifest_is_not_finished(job):
    assert job.find_manifest() is None


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        ({"flags": {"seed": 6}}, "was written with --seed=5; use another"),
        ({"inputs": []}, "was written with other input files, or another"),
        ({"model": []}, "was written with another model; use another"),
    ],
)
def test_a_manifest_of_another_job_is_not_replaced(
    finished_job, output_file, change, culprit
):
    other = JobFiles(output_file, DESCRIPTION | change, ending=".jsonl")
    with pytest.raises(ValueError, match=culprit):
        other.find_manifest()


def test_begun_work_of_another_job_is_not_resumed(job, output_file):
    job.begin()
    other = JobFiles(output_file, DESCRIPTION | {"flags": {"seed": 6}})
    with pytest.raises(ValueError, match="was written with --seed=5"):
        other.begin()


def test_a_folder_of_the_user_is_not_used(job, output_file):
    os.mkdir(f"{output_file}.work")
    with open(f"{output_file}.work/notes.txt", "w") as file:
        file.write("a note")
    with pytest.raises(ValueError, match="files that this script did not"):
        job.begin()


def test_a_shard_that_would_replace_an_input_is_refused(output_file):
    path = output_file.replace(".jsonl", "-00000-of-00001.jsonl")
    with open(path, "w") as file:
        file.write("text")
    inputs = {"inputs": create_input_entries([path])}
    job = JobFiles(output_file, DESCRIPTION | inputs, ending=".jsonl")
    with pytest.raises(ValueError, match=r"would replace .*which is an input"):
        job.check_overwrites([Unit(job.shard_paths(1), job.result_file(0))])


def test_discarding_removes_what_the_units_wrote(job, units, tmp_path):
    job.begin()
    write_shard(units[0])
    job.discard(units)
    assert os.listdir(tmp_path) == []


def test_discarding_leaves_a_file_of_the_user_in_the_folder(
    job, units, output_file
):
    job.begin()
    with open(f"{output_file}.work/notes.txt", "w") as file:
        file.write("a note")
    job.discard(units)
    assert os.listdir(f"{output_file}.work") == ["notes.txt"]


def test_a_named_shard_belongs_to_the_manifest(output_file, tmp_path):
    path = tmp_path / "eval.jsonl"
    path.write_text("eval")
    job = JobFiles(
        output_file, DESCRIPTION, named_shards={"eval_shards": str(path)}
    )
    job.begin()
    job.finish({"shards": [], "eval_shards": [compute_shard_checksum(path)]})
    assert job.find_manifest() is not None
    path.write_text("Eval")
    assert job.find_manifest() is None
