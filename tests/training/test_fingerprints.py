"""Runs are told apart by their settings, and files by their checksums."""

import os
import zlib

from data.io.records import RecordWriter
from training import fingerprints


def test_an_unchanged_file_is_read_once(tmp_path, caplog):
    path = tmp_path / "records.tfrecord"
    known = {}

    def find(records):
        caplog.clear()
        with caplog.at_level("INFO"):
            found = fingerprints.fingerprint_records([str(path)], known)
        checksum = zlib.crc32(b"".join(records))
        assert found == [[path.name, path.stat().st_size, checksum]]
        return f"Reading {path} for its checksum" in caplog.text

    def write(records):
        with RecordWriter([str(path)]) as writer:
            for record in records:
                writer.write(record)
        return records

    records = write([b"%04d" % number for number in range(1200)])
    assert find(records)
    assert not find(records)
    # Another record in the middle.
    records = write([*records[:450], b"0000", *records[451:]])
    os.utime(path, (1, 1))
    assert find(records)
