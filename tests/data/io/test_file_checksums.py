"""Sizes and checksums, which tell later whether a file is whole."""

import gzip
import zlib

import google_crc32c
import pytest

from data.io.file_checksums import (
    compute_crc32,
    compute_size_and_checksum,
    is_intact,
)

CONTENTS = b"one\ntwo\n"


@pytest.fixture
def shard(tmp_path):
    """The path of a file that a job has written."""
    path = tmp_path / "shard"
    path.write_bytes(CONTENTS)
    return path


def test_is_intact_accepts_an_unchanged_file(shard):
    entry = compute_size_and_checksum(shard)
    assert entry["bytes"] == len(CONTENTS)
    assert is_intact(str(shard), entry)


@pytest.mark.parametrize(
    "contents", [CONTENTS[:-1], CONTENTS + b"x", b"one\ntwO\n", b""]
)
def test_is_intact_rejects_a_file_of_other_bytes(shard, contents):
    entry = compute_size_and_checksum(shard)
    shard.write_bytes(contents)
    assert not is_intact(str(shard), entry)


def test_is_intact_rejects_a_missing_file(shard):
    entry = compute_size_and_checksum(shard)
    shard.unlink()
    assert not is_intact(str(shard), entry)


@pytest.fixture
def compressed(tmp_path):
    """The path of a compressed file with the same contents."""
    path = tmp_path / "compressed.gz"
    path.write_bytes(gzip.compress(CONTENTS))
    return path


def test_a_compressed_file_is_measured_as_it_is_unless_asked(shard, compressed):
    entry = compute_size_and_checksum(compressed)
    assert entry["bytes"] == compressed.stat().st_size
    assert compute_size_and_checksum(
        compressed, decompressed=True
    ) == compute_size_and_checksum(shard)


def test_crc32_is_that_of_all_bytes_as_they_are(compressed):
    assert compute_crc32(compressed) == zlib.crc32(compressed.read_bytes())


def test_a_file_larger_than_a_chunk_is_read_to_its_end(tmp_path):
    contents = bytes(range(256)) * (1 << 13)
    path = tmp_path / "large"
    path.write_bytes(contents)
    assert compute_crc32(path) == zlib.crc32(contents)
    assert compute_size_and_checksum(path) == {
        "bytes": len(contents),
        "crc32c": f"{google_crc32c.value(contents):08x}",
    }
