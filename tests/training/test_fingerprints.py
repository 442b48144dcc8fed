"""Runs are told apart by their settings, and files by their checksums."""

import os
import zlib

import pytest

from data.io import records as record_files
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


def test_a_record_that_is_shorter_than_it_says_is_named(records):
    """TensorFlow's reader ends the process there, without a message."""
    path, _ = records
    start = path.stat().st_size // 1200 * 600
    for length, message in (
        (1 << 30, f"the record at byte {start} is truncated"),
        (1 << 62, f"the record at byte {start} is corrupt"),
    ):
        with open(path, "r+b") as file:
            file.seek(start)
            file.write(record_files._header(length))
        # Remote files too.
        for file in (str(path), f"file://{path}"):
            with pytest.raises(ValueError, match=f"{path.name}: .*{message}"):
                fingerprints.fingerprint_records([file], {})
