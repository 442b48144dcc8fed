"""A job of two units, each of which writes one shard."""

from typing import NamedTuple

import pytest

from data.io.file_checksums import compute_size_and_checksum
from data.parallel_jobs.job_files import JobFiles, JobPaths, Manifest
from files.json_files import write_json


class Unit(NamedTuple):
    """A unit that writes one shard, of the text whose CRC-32C is well known."""

    shards: list[str]
    result_file: str
    text: str = "123456789"

    def write_shards(self):
        """Writes the shard, and then the result file."""
        (path,) = self.shards
        with open(path, "w") as file:
            file.write(self.text)
        checksum = compute_size_and_checksum(path)
        entry = {"path": path, "num_records": 1, **checksum}
        write_json(
            self.result_file, {"shards": [entry], "counts": {"texts": 1}}
        )


@pytest.fixture
def description():
    """The description of a job: its version, flags and inputs."""
    return {
        "version": 1,
        "flags": {"seed": 5},
        "inputs": [{"path": "corpus.txt", "bytes": 3, "crc32c": "00000000"}],
    }


@pytest.fixture
def paths(tmp_path):
    """The paths of a job whose shards end in .jsonl."""
    return JobPaths(str(tmp_path / "out.jsonl"), ending=".jsonl")


@pytest.fixture
def job(paths, description):
    """The files of the job."""
    return JobFiles(paths, description, Manifest)


@pytest.fixture
def units(paths):
    """Two units of the job."""
    return [
        Unit([path], paths.result_file(number))
        for number, path in enumerate(paths.shard_paths(2))
    ]
