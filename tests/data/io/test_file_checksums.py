"""Sizes and checksums, which tell later whether a file is whole."""

import gzip

import pytest

from data.io import file_checksums

CONTENTS = b"one\ntwo\n"


@pytest.fixture
def shard(tmp_path):
    """The path of a file that a job has written."""
    path = tmp_path / "shard"
    path.write_bytes(CONTENTS)
    return path


def test_is_intact_accepts_an_unchanged_file(shard):
    entry = file_checksums.compute_shard_checksum(shard)
    assert entry["bytes"] == len(CONTENTS)
    assert file_checksums.is_intact(str(shard), entry)


@pytest.mark.parametrize(
    "contents", [CONTENTS[:-1], CONTENTS + b"x", b"one\ntwO\n", b""]
)
def test_is_intact_rejects_a_file_of_other_bytes(shard, contents):
    entry = file_checksums.compute_shard_checksum(shard)
    shard.write_bytes(contents)
    assert not file_checksums.is_intact(str(shard), entry)


def test_is_intact_rejects_a_missing_file(shard):
    entry = file_checksums.compute_shard_checksum(shard)
    shard.unlink()
    assert not file_checksums.is_intact(str(shard), entry)


def test_an_input_is_measured_decompressed_and_a_shard_as_it_is(
    tmp_path, shard
):
    compressed = tmp_path / "compressed.gz"
    compressed.write_bytes(gzip.compress(CONTENTS))
    plain = file_checksums.compute_file_checksum(shard)
    assert file_checksums.compute_file_checksum(compressed) == plain
    assert file_checksums.compute_shard_checksum(compressed) != plain
