"""Computes checksums of files, to tell later whether they are intact."""

import io
import os
from typing import TypedDict

import google_crc32c

from data.io import text_files
from files.paths import StrPath


class FileChecksum(TypedDict):
    """Size and checksum of a file, to tell whether the file is intact."""

    bytes: int
    crc32c: str


def compute_file_checksum(path: StrPath) -> FileChecksum:
    """Returns a file's size and checksum.

    The bytes of a compressed file are decompressed first.
    """
    with text_files.open_binary(path) as file:
        return _compute_checksum(file)


def compute_shard_checksum(path: StrPath) -> FileChecksum:
    """Returns the size and checksum of a local file, compressed or not."""
    with open(path, "rb") as file:
        return _compute_checksum(file)


def _compute_checksum(file: io.BufferedReader) -> FileChecksum:
    checksum = google_crc32c.Checksum()
    size = sum(len(chunk) for chunk in checksum.consume(file, 1 << 20))
    return {"bytes": size, "crc32c": checksum.hexdigest().decode()}


def is_intact(path: str, entry: FileChecksum) -> bool:
    """Returns whether a file's size and checksum match its manifest `entry`."""
    # Compare the size first, because the checksum reads the whole file.
    return (
        os.path.isfile(path)
        and os.path.getsize(path) == entry["bytes"]
        and compute_shard_checksum(path)["crc32c"] == entry["crc32c"]
    )
