"""Encodes, writes, reads and counts TFRecords without TensorFlow.

This module writes the same bytes as `tf.train.Example` and
`tf.io.TFRecordWriter`, but does not use these classes, for two reasons. A
process that only writes records need not load TensorFlow, and building a
`tf.train.Example` takes longer than creating the instance that it contains.
"""

import contextlib
import functools
import io
import math
import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, Self, TypedDict, cast

import google_crc32c
import numpy as np

from data.io import text_files
from files.atomic import atomic_open
from files.paths import StrPath

_HEADER_SIZE = 12  # 8 bytes of length, 4 bytes of its checksum
_FOOTER_SIZE = 4
# A longer record is damaged: protocol buffers are smaller than 2 GiB.
_MAX_LENGTH = 1 << 31
# Field numbers in tf.train.Feature.
_FLOATS = 2
_INTS = 3

# The values of a feature.
Values = Sequence[int] | Sequence[float] | np.ndarray


def encode_example(features: Mapping[str, Values]) -> bytes:
    """Serializes features as the bytes of a `tf.train.Example`.

    Args:
        features: {name: values}. The values of an int64 feature are a list of
            ints, each at least 0, or bytes: the joined results of
            `encode_varint`. The values of a float feature are an array, or a
            list whose first value is a float.

    Raises:
        ValueError: an integer is negative.
    """
    entries: list[bytes] = []
    for name, values in features.items():
        kind, packed = _pack_values(name, values)
        entries += [_entry(name, kind, len(packed)), packed]
    return _field(1, b"".join(entries))


def _pack_values(name: str, values: Values) -> tuple[int, bytes]:
    """Returns the kind of a feature, and its values as packed bytes."""
    if isinstance(values, bytes):
        return _INTS, values
    if isinstance(values, np.ndarray):
        return _FLOATS, values.astype(np.float32).tobytes()
    if values and isinstance(values[0], float):
        return _FLOATS, struct.pack(f"<{len(values)}f", *values)
    return _INTS, _pack_integers(name, cast("Sequence[int]", values))


class FileSize(TypedDict):
    """Size and checksum of a file, to tell whether the file is whole."""

    bytes: int
    crc32c: str


class ShardEntry(FileSize):
    """A file of records, as a manifest lists it."""

    path: str
    num_records: int


class ModelInput(Protocol):
    """The network's input for one example, in lists of equal length."""

    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]


def encode_inputs(
    inputs: ModelInput, other_features: Mapping[str, Values]
) -> bytes:
    """Serializes a model input and other features as a `tf.train.Example`.

    `other_features` are {name: values}.
    """
    features = {
        "input_ids": inputs.input_ids,
        "input_mask": inputs.input_mask,
        "segment_ids": inputs.segment_ids,
    }
    return encode_example({**features, **other_features})


@functools.lru_cache(maxsize=1 << 16)
def _entry(name: str, kind: int, length: int) -> bytes:
    """Returns the bytes that precede the packed values of a feature.

    The values are `length` bytes.
    """
    # A message begins with its length, so build the innermost message first.
    key = _field(1, name.encode())
    packed = b"\n" + encode_varint(length)
    feature = (
        b"%c" % (kind << 3 | 2) + encode_varint(len(packed) + length) + packed
    )
    value = b"\x12" + encode_varint(len(feature) + length) + feature
    return b"\n" + encode_varint(len(key) + len(value) + length) + key + value


def encode_varint(value: int) -> bytes:
    """Encodes a non-negative integer in protocol buffers' base 128."""
    # Each byte contains seven bits of the integer, the lowest bits first. The
    # byte's top bit is 1 if more bytes follow.
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


@functools.cache
def _varint_table() -> list[bytes]:
    """Covers the ids of all released vocabularies."""
    return [*map(encode_varint, range(1 << 17))]


def _pack_integers(name: str, values: Sequence[int]) -> bytes:
    lowest = min(values, default=0)
    highest = max(values, default=0)
    if lowest < 0:
        raise ValueError(f"'{name}' must be at least 0. Received: {lowest}")
    if highest < 128:
        return bytes(values)
    table = _varint_table()
    encode = table.__getitem__ if highest < len(table) else encode_varint
    return b"".join(map(encode, values))


def _field(number: int, payload: bytes) -> bytes:
    return b"%c%b%b" % (number << 3 | 2, encode_varint(len(payload)), payload)


def _masked_crc(data: bytes) -> int:
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame_record(record: bytes) -> bytes:
    """Adds the header and footer of a TFRecord: its length and checksums."""
    footer = struct.pack("<I", _masked_crc(record))
    return b"%b%b%b" % (_header(len(record)), record, footer)


@functools.lru_cache(maxsize=1 << 12)
def _header(length: int) -> bytes:
    header = struct.pack("<Q", length)
    return header + struct.pack("<I", _masked_crc(header))


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
        """Writes one serialized record, to the next of the files in turn."""
        self._files[self.num_records % len(self._files)].write(
            frame_record(record)
        )
        self.num_records += 1

    def describe(self) -> list[ShardEntry]:
        """Returns the path, number of records, size and checksum of each file.

        Call this method after the `with` block.
        """
        step = len(self._paths)
        return [
            {
                "path": path,
                "num_records": len(range(number, self.num_records, step)),
                **measure_shard(path),
            }
            for number, path in enumerate(self._paths)
        ]


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
                raise _damaged(path, position, "truncated")
            if struct.unpack("<I", footer)[0] != _masked_crc(record):
                raise _damaged(path, position, "corrupt (wrong checksum)")
            yield record
            position += _HEADER_SIZE + length + _FOOTER_SIZE


def count_records(paths: Iterable[StrPath], limit: float = math.inf) -> int:
    """Counts the records of TFRecord files, reading only their headers.

    Stops after `limit` records.

    Raises:
        ValueError: a file is truncated, or is not a TFRecord file.
    """
    count = 0
    for path in paths:
        with text_files.open_binary(path) as file:
            position = 0
            while count < limit and (header := file.read(_HEADER_SIZE)):
                length = _record_length(path, position, header)
                end = position + _HEADER_SIZE + length + _FOOTER_SIZE
                file.seek(end - _FOOTER_SIZE)
                if len(file.read(_FOOTER_SIZE)) < _FOOTER_SIZE:
                    raise _damaged(path, position, "truncated")
                position = end
                count += 1
    return count


def _record_length(path: StrPath, position: int, header: bytes) -> int:
    """Returns the length in a record's header, whose checksum it checks."""
    if len(header) < _HEADER_SIZE:
        raise _damaged(path, position, "truncated")
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
        raise _damaged(path, position, damage)
    if length >= _MAX_LENGTH:
        raise _damaged(path, position, f"corrupt ({length} bytes long)")
    return length


def _damaged(path: StrPath, position: int, how: str) -> ValueError:
    return ValueError(
        f"{path}: the record at byte {position} is {how}; create the file again"
    )


def feature_lengths(record: bytes) -> dict[str, int]:
    """Returns {name: number of values} of a serialized `tf.train.Example`.

    Raises:
        ValueError: the record is not a `tf.train.Example`.
    """
    lengths = {}
    try:
        for _, features in _read_fields(record):
            for _, entry in _read_fields(features):
                named = dict(_read_fields(entry))
                count = 0
                for kind, values in _read_fields(named[2]):
                    for _, packed in _read_fields(values):
                        count += _count_values(kind, packed)
                lengths[named[1].decode()] = count
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise ValueError("the record is not a tf.train.Example") from error
    return lengths


def _count_values(kind: int, packed: bytes) -> int:
    if kind == _FLOATS:
        return len(packed) // 4
    # The top bit is 0 in the last byte of an integer. Texts are not packed.
    return sum(byte < 128 for byte in packed) if kind == _INTS else 1


def _read_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields (number, value) of each field of a message of protocol buffers.

    Raises an IndexError if the bytes are not a message.
    """
    position = 0

    def read_varint() -> tuple[int, bytes]:
        nonlocal position
        start = position
        value = 0
        while True:
            byte = message[position]
            value |= (byte & 127) << 7 * (position - start)
            position += 1
            if byte < 128:
                return value, message[start:position]

    while position < len(message):
        key, _ = read_varint()
        wire_type = key & 7
        if wire_type == 0:
            yield key >> 3, read_varint()[1]
            continue
        size = {1: 8, 5: 4}.get(wire_type)
        if size is None:
            size, _ = read_varint()
        position += size
        if wire_type not in (1, 2, 5) or position > len(message):
            raise IndexError
        yield key >> 3, message[position - size : position]


def measure_file(path: StrPath) -> FileSize:
    """Returns a file's size and checksum.

    Of a packed file, they are those of the unpacked bytes.
    """
    with text_files.open_binary(path) as file:
        return _measure(file)


def measure_shard(path: StrPath) -> FileSize:
    """Measures the bytes of a local file as they are, packed or not."""
    with open(path, "rb") as file:
        return _measure(file)


def _measure(file: io.BufferedReader) -> FileSize:
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
