"""A job's files: their names, job.json in OUTPUT.work, and the manifest."""

import json
import os
import re

import pytest

from data.io.file_checksums import compute_size_and_checksum
from data.parallel_jobs.job_files import (
    JobFiles,
    JobPaths,
    Manifest,
    create_input_entries,
)
from files.json_files import read_json


def entry_of(path):
    """Returns the entry of a shard in the manifest."""
    return {
        "path": str(path),
        "num_records": 1,
        **compute_size_and_checksum(path),
    }


@pytest.fixture
def finished_job(job, units):
    """The manifest of the job, all of whose units are done."""
    job.begin()
    for unit in units:
        unit.write_shards()
    shards = [entry_of(path) for unit in units for path in unit.shards]
    return job.finish({"shards": shards})


@pytest.fixture
def folder_with_notes(paths):
    """The folder OUTPUT.work with a file of the user."""
    os.mkdir(paths.work_dir)
    with open(os.path.join(paths.work_dir, "notes.txt"), "w") as file:
        file.write("a note")
    return paths.work_dir


def test_an_input_is_recorded_with_its_size_and_checksum(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("123456789")
    assert create_input_entries([str(path)]) == [
        {"path": str(path), "bytes": 9, "crc32c": "e3069283"}
    ]


def test_the_manifest_lists_the_job_and_its_shards(
    finished_job, paths, description
):
    manifest = read_json(paths.manifest_file)
    assert manifest == finished_job
    shards = [entry_of(path) for path in paths.shard_paths(2)]
    assert manifest == {**description, "shards": shards}


def test_a_finished_job_leaves_only_its_shards_and_manifest(
    finished_job, tmp_path
):
    assert sorted(os.listdir(tmp_path)) == [
        "out-00000-of-00002.jsonl",
        "out-00001-of-00002.jsonl",
        "out.jsonl.manifest.json",
    ]


def test_a_finished_job_finds_its_manifest(job, finished_job):
    assert job.read_intact_manifest() == finished_job


def test_a_moved_job_finds_its_manifest(finished_job, description, tmp_path):
    (tmp_path / "moved").mkdir()
    for path in tmp_path.glob("out*"):
        path.rename(tmp_path / "moved" / path.name)
    paths = JobPaths(str(tmp_path / "moved/out.jsonl"), ending=".jsonl")
    assert (
        JobFiles(paths, description, Manifest).read_intact_manifest()
        == finished_job
    )


def test_a_manifest_whose_shards_are_damaged_is_not_found(
    job, finished_job, units
):
    os.truncate(units[1].shards[0], 3)
    assert job.read_intact_manifest() is None


def test_a_job_is_unfinished_without_a_manifest(job):
    assert job.read_intact_manifest() is None


def test_a_named_shard_belongs_to_the_manifest(description, tmp_path):
    path = tmp_path / "eval.jsonl"
    path.write_text("eval")
    named_shards = {"eval_shards": str(path)}
    paths = JobPaths(str(tmp_path / "out"), named_shards=named_shards)
    job = JobFiles(paths, description, Manifest)
    job.begin()
    job.finish({"shards": [], "eval_shards": [entry_of(path)]})
    assert job.read_intact_manifest() is not None
    path.write_text("Eval")
    assert job.read_intact_manifest() is None


@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        ({"flags": {"seed": 6}}, "was written with --seed=5; use another"),
        ({"inputs": []}, "other input files"),
        ({"model": []}, "another model"),
    ],
)
def test_a_manifest_of_another_job_is_not_replaced(
    finished_job, paths, description, change, culprit
):
    other = JobFiles(paths, description | change, Manifest)
    with pytest.raises(ValueError, match=culprit):
        other.read_intact_manifest()


def test_begun_work_of_another_job_is_not_resumed(job, paths, description):
    job.begin()
    other = JobFiles(paths, description | {"flags": {"seed": 6}}, Manifest)
    with pytest.raises(ValueError, match="was written with --seed=5"):
        other.begin()
    with pytest.raises(ValueError, match="was written with --seed=5"):
        other.check_begun()


@pytest.mark.parametrize(
    ("contents", "culprit"),
    [("{", "is not valid JSON"), ('{"flags": [5]}', "`flags` must be an")],
)
def test_a_damaged_job_file_is_named(job, paths, contents, culprit):
    job.begin()
    with open(paths.job_file, "w") as file:
        file.write(contents)
    with pytest.raises(ValueError, match=f"job.json.*{culprit}"):
        job.begin()


@pytest.mark.parametrize("shards", [None, {}, [{"bytes": 9}], ["out"]])
def test_a_damaged_manifest_is_named(job, finished_job, paths, shards):
    with open(paths.manifest_file, "w") as file:
        json.dump({**finished_job, "shards": shards}, file)
    with pytest.raises(
        ValueError, match=r"manifest\.json is damaged: `shards`"
    ):
        job.read_intact_manifest()


def test_a_folder_of_the_user_is_not_used(job, folder_with_notes):
    with pytest.raises(ValueError, match="files that this script did not"):
        job.begin()


def test_a_shard_that_would_replace_an_input_is_refused(
    paths, units, description
):
    path = units[0].shards[0]
    with open(path, "w") as file:
        file.write("text")
    inputs = {"inputs": create_input_entries([path])}
    job = JobFiles(paths, description | inputs, Manifest)
    with pytest.raises(ValueError, match=r"would replace .*which is an input"):
        job.check_overwrites([path])


def test_the_folder_of_the_work_is_removed(job, units, paths):
    job.begin()
    units[0].write_shards()
    job.remove_work()
    assert not os.path.exists(paths.work_dir)


def test_a_file_of_the_user_in_the_folder_of_the_work_stays(job, paths):
    job.begin()
    with open(os.path.join(paths.work_dir, "notes.txt"), "w") as file:
        file.write("a note")
    job.remove_work()
    assert os.listdir(paths.work_dir) == ["notes.txt"]


def test_only_the_folder_of_a_job_is_removed(job, folder_with_notes):
    job.remove_work()
    assert os.listdir(folder_with_notes) == ["notes.txt"]


@pytest.mark.parametrize(
    ("output_file", "ending", "shard"),
    [
        ("made/out", "", "made/out-00001-of-00002"),
        ("out.csv.gz", ".csv.gz", "out-00001-of-00002.csv.gz"),
        ("out.csv", "", "out.csv-00001-of-00002"),
    ],
)
def test_a_shard_has_the_ending_of_the_output(output_file, ending, shard):
    assert JobPaths(output_file, ending).shard_paths(2)[1] == shard


def test_the_pattern_matches_all_shards_and_no_other_file():
    paths = JobPaths("out.jsonl", ending=".jsonl")
    pattern = re.compile(re.escape(paths.pattern(3)).replace(r"\*", ".*"))
    assert all(map(pattern.fullmatch, paths.shard_paths(3)))
    others = [paths.manifest_file, *paths.shard_paths(4)]
    assert not any(map(pattern.fullmatch, others))


def test_unfinished_work_is_in_a_folder_of_its_own():
    paths = JobPaths("made/out")
    assert paths.work_dir == "made/out.work"
    work_files = [paths.job_file, paths.result_file(0)]
    assert {*map(os.path.dirname, work_files)} == {paths.work_dir}
