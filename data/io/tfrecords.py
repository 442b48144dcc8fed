"""Writes, reads and counts the records of TFRecord files.

This module writes the same bytes as `tf.io.TFRecordWriter`, but without
TensorFlow, so that a process that only writes records starts quickly. A record
is a `tf.train.Example`, which tf_examples.py encodes.
"""

import contextlib
import functools
import itertools
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import google_crc32c

from data.io import text_files
from data.io.file_checksums import SizeAndChecksum, compute_size_and_checksum
from files.atomic import atomic_open
from files.paths import StrPath

_HEADER_SIZE = 12  # 8 bytes of length, 4 bytes of its checksum
_FOOTER_SIZE = 4
# A longer record is damaged: protocol buffers are smaller than 2 GiB.
_MAX_LENGTH = 1 << 31


class ShardEntry(SizeAndChecksum):
    """A file of records, as a manifest lists it."""

    path: str
    num_records: int


class RecordWriter(contextlib.ExitStack):
    """Context manager that distributes records over several TFRecord files.

    Record i is written to the file `paths[i % len(paths)]`, as in Google's
    code. The files appear when the `with` block ends without an error. Until
    then, the records are in temporary files.

    Raises:
        OSError: a file cannot be written.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__()
        self._paths = paths
        self.num_records = 0

    def __enter__(self) -> Self:
        """Opens a temporary file for each output file."""
        # If a file cannot be opened, close the files that are already open.
        with contextlib.ExitStack() as stack:
            self._files = [
                stack.enter_context(atomic_open(path)) for path in self._paths
            ]
            self.push(stack.pop_all())
        return self

    def write(self, record: bytes) -> None:
        """Writes a serialized record to the file whose turn it is."""
        self._files[self.num_records % len(self._files)].write(
            frame_record(record)
        )
        self.num_records += 1

    def list_shards(self) -> list[ShardEntry]:
        """Returns the path, number of records, size and checksum of each file.

        Call this method after the `with` block.
        """
        step = len(self._paths)
        return [
            {
                "path": path,
                "num_records": len(range(index, self.num_records, step)),
                **compute_size_and_checksum(path),
            }
            for index, path in enumerate(self._paths)
        ]


def frame_record(record: bytes) -> bytes:
    """Adds the header and footer of a TFRecord: its length and checksums."""
    footer = struct.pack("<I", _masked_crc(record))
    return b"%b%b%b" % (_create_header(len(record)), record, footer)


@functools.lru_cache(maxsize=1 << 12)
def _create_header(length: int) -> bytes:
    header = struct.pack("<Q", length)
    return header + struct.pack("<I", _masked_crc(header))


def read_records(path: StrPath) -> Iterator[bytes]:
    """Yields the records of a TFRecord file, and verifies their checksums.

    Raises:
        ValueError: the file is truncated or corrupt, or is not a TFRecord file.
            The message names the file and the byte at which the record begins.
    """
    with text_files.open_binary(path) as file:
        position = 0
        while header := file.read(_HEADER_SIZE):
            length = _record_length(path, position, header)
            body = file.read(length + _FOOTER_SIZE)
            record = body[:length]
            footer = body[length:]
            if len(footer) < _FOOTER_SIZE:
                raise _damage_error(path, position, "truncated")
            if struct.unpack("<I", footer)[0] != _masked_crc(record):
                raise _damage_error(path, position, "corrupt (wrong checksum)")
            yield record
            position += _HEADER_SIZE + length + _FOOTER_SIZE


def count_records(paths: Iterable[StrPath]) -> int:
    """Counts the records of TFRecord files, reading only their headers.

    Raises:
        ValueError: a file is truncated, or is not a TFRecord file.
    """
    return sum(1 for path in paths for _ in _read_record_ends(path))


def check_record_lengths(paths: Iterable[StrPath], limit: int) -> None:
    """Checks that the first `limit` records are as long as their headers say.

    Raises:
        ValueError: a file is truncated, or is not a TFRecord file.
    """
    ends = itertools.chain.from_iterable(map(_read_record_ends, paths))
    for _ in itertools.islice(ends, limit):
        pass


def _read_record_ends(path: StrPath) -> Iterator[int]:
    """Yields the offset at which each record ends, without reading records."""
    with text_files.open_binary(path) as file:
        position = 0
        while header := file.read(_HEADER_SIZE):
            length = _record_length(path, position, header)
            end = position + _HEADER_SIZE + length + _FOOTER_SIZE
            file.seek(end - _FOOTER_SIZE)
            if len(file.read(_FOOTER_SIZE)) < _FOOTER_SIZE:
                raise _damage_error(path, position, "truncated")
            yield end
            position = end


def _record_length(path: StrPath, position: int, header: bytes) -> int:
    """Returns the length in a record's header, and checks its checksum."""
    if len(header) < _HEADER_SIZE:
        raise _damage_error(path, position, "truncated")
    values: tuple[int, int] = struct.unpack("<QI", header)
    length, crc = values
    if crc != _masked_crc(header[:8]):
        if not position:
            # Users only create records for pretraining.
            raise ValueError(
                f"{path} is not a TFRecord file. Create records from a text "
                "with create_pretraining_data.py"
            )
        damage = "corrupt (wrong checksum of the length)"
        raise _damage_error(path, position, damage)
    if length >= _MAX_LENGTH:
        raise _damage_error(path, position, f"corrupt ({length} bytes long)")
    return length


def _masked_crc(data: bytes) -> int:
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _damage_error(path: StrPath, position: int, damage: str) -> ValueError:
    return ValueError(
        f"{path}: the record at byte {position} is {damage}; create the file "
        "again"
    )
