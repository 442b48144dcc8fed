"""Computes checksums of files, which show later whether they have changed.

The project computes two checksums, because its files contain both. Neither may
change, or else files of earlier versions no longer match:

    CRC-32C: in manifests, of inputs and shards
    CRC-32: in model.json, of a training's inputs and an export's networks

What model.json records of an input, such as its name and its checksum, is a
fingerprint: model_folders/fingerprints.py defines it. Local files are read
without TensorFlow.
"""

import os
import zlib
from collections.abc import Iterator
from typing import IO, TypedDict

import google_crc32c

from data.io import text_files
from files.paths import StrPath, explain_file_errors

_CHUNK_SIZE = 1 << 20


class SizeAndChecksum(TypedDict):
    """The bytes of a file, as a manifest describes them.

    Attributes:
        bytes: number of the bytes.
        crc32c: their CRC-32C, in hexadecimal.
    """

    bytes: int
    crc32c: str


def compute_size_and_checksum(
    path: StrPath, *, decompressed: bool = False
) -> SizeAndChecksum:
    """Returns the size and the CRC-32C of a local or remote file.

    Args:
        path: path of the file.
        decompressed: whether to measure the contents of a compressed file, and
            not the file itself.

    Raises:
        OSError: the file cannot be read.
    """
    open_file = text_files.open_binary if decompressed else text_files.open_raw
    size = 0
    checksum = google_crc32c.Checksum()
    with explain_file_errors(path), open_file(path) as file:
        for chunk in _read_chunks(file):
            size += len(chunk)
            checksum.update(chunk)
    return {"bytes": size, "crc32c": checksum.hexdigest().decode()}


def compute_crc32(path: StrPath) -> int:
    """Returns the CRC-32 of a local or remote file.

    Raises:
        OSError: the file cannot be read.
    """
    checksum = 0
    with explain_file_errors(path), text_files.open_raw(path) as file:
        for chunk in _read_chunks(file):
            checksum = zlib.crc32(chunk, checksum)
    return checksum


def _read_chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_SIZE):
        yield chunk


def is_intact(path: str, entry: SizeAndChecksum) -> bool:
    """Returns whether a local file has the size and checksum of its `entry`."""
    # Compare the size first, because the checksum reads the whole file.
    return (
        os.path.isfile(path)
        and os.path.getsize(path) == entry["bytes"]
        and compute_size_and_checksum(path)["crc32c"] == entry["crc32c"]
    )
