"""The names of a job's files."""

import os
import re

import pytest

from data.jobs.job_paths import JobPaths


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
