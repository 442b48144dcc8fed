"""Runs are told apart by their settings, and files by their checksums."""

import os
import zlib

import pytest

from data.io.records import RecordWriter, read_records
from training import fingerprints


@pytest.fixture
def records(tmp_path, tiny):
    """1,200 records of one size."""
    path = tmp_path / "records.tfrecord"
    found = [*read_records(str(tiny / "train.tfrecord"))]
    size = max(set(map(len, found)), key=[*map(len, found)].count)
    found = [record for record in found if len(record) == size]
    assert len(set(found)) > 1

    def write(numbers):
        with RecordWriter([str(path)]) as writer:
            for number in numbers:
                writer.write(found[number % len(found)])
        return path

    write(range(1200))
    return path, write


def checksum(path):
    """Returns the checksum of a file's records."""
    return zlib.crc32(b"".join(read_records(str(path))))


def test_an_unchanged_file_is_read_once(records, caplog):
    path, write = records
    known = {}

    def find():
        caplog.clear()
        with caplog.at_level("INFO"):
            found = fingerprints.fingerprint_records([str(path)], known)
        assert found == [[path.name, path.stat().st_size, checksum(path)]]
        return f"Reading {path} for its checksum" in caplog.text

    assert find()
    assert not find()
    # Another record in the middle.
    write([*range(450), *range(451, 751), *range(750, 1200)])
    os.utime(path, (1, 1))
    assert find()
