"""Measures files, to tell later whether they are whole."""

import io
import os
from typing import TypedDict

import google_crc32c

from data.io import text_files
from files.paths import StrPath


class FileSize(TypedDict):
    """Size and checksum of a file, to tell whether the file is whole."""

    bytes: int
    crc32c: str


def measure_file(path: StrPath) -> FileSize:
    """Returns a file's size and checksum.

    The bytes of a packed file are unpacked first.
    """
    with text_files.open_binary(path) as file:
        return _measure_open_file(file)


def measure_shard(path: StrPath) -> FileSize:
    """Measures the bytes of a local file as they are, packed or not."""
    with open(path, "rb") as file:
        return _measure_open_file(file)


def _measure_open_file(file: io.BufferedReader) -> FileSize:
    checksum = google_crc32c.Checksum()
    size = sum(len(chunk) for chunk in checksum.consume(file, 1 << 20))
    return {"bytes": size, "crc32c": checksum.hexdigest().decode()}


def is_whole(path: str, entry: FileSize) -> bool:
    """Returns whether a file's size and checksum match its manifest `entry`."""
    # Compare the size first, because the checksum reads the whole file.
    return (
        os.path.isfile(path)
        and os.path.getsize(path) == entry["bytes"]
        and measure_shard(path)["crc32c"] == entry["crc32c"]
    )
