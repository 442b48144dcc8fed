"""Encodes records as `tf.train.Example`, and reads the lengths of their values.

This module writes the same bytes as the class, but without TensorFlow, so that
a process that only writes records starts quickly. It is also faster: building a
`tf.train.Example` takes longer than creating the instance that it contains.
"""

import functools
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias, cast

import numpy as np

# Field numbers in tf.train.Feature.
_FLOATS_FIELD = 2
_INTS_FIELD = 3
# The values of a feature.
Values: TypeAlias = Sequence[int] | Sequence[float] | np.ndarray


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
        field_number, packed = _pack_values(name, values)
        entries += [
            _encode_entry_start(name, field_number, len(packed)),
            packed,
        ]
    return _encode_field(1, b"".join(entries))


def _pack_values(name: str, values: Values) -> tuple[int, bytes]:
    """Returns the number of a feature's field, and its values as bytes."""
    if isinstance(values, bytes):
        return _INTS_FIELD, values
    if isinstance(values, np.ndarray):
        return _FLOATS_FIELD, values.astype(np.float32).tobytes()
    if values and isinstance(values[0], float):
        return _FLOATS_FIELD, struct.pack(f"<{len(values)}f", *values)
    # All values have the type of the first.
    return _INTS_FIELD, _pack_integers(name, cast("Sequence[int]", values))


def _pack_integers(name: str, values: Sequence[int]) -> bytes:
    lowest = min(values, default=0)
    highest = max(values, default=0)
    if lowest < 0:
        raise ValueError(f"'{name}' must be at least 0. Received: {lowest}")
    if highest < 128:
        return bytes(values)
    table = _create_varint_table()
    encode = table.__getitem__ if highest < len(table) else encode_varint
    return b"".join(map(encode, values))


def encode_varint(value: int) -> bytes:
    r"""Encodes a non-negative integer in protocol buffers' base 128.

    Examples:
        300, which is 2 * 128 + 44, becomes the bytes 128 + 44 and 2:

        >>> encode_varint(300)
        b'\xac\x02'
    """
    # Each byte contains seven bits of the integer, the lowest bits first. The
    # byte's top bit is 1 if more bytes follow.
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


@functools.cache
def _create_varint_table() -> list[bytes]:
    """Covers the ids of all released vocabularies."""
    return [*map(encode_varint, range(1 << 17))]


@functools.lru_cache(maxsize=1 << 16)
def _encode_entry_start(name: str, field_number: int, length: int) -> bytes:
    """Returns the bytes that precede the packed values of a feature.

    The values are `length` bytes.
    """
    # A message begins with its length, so build the innermost message first.
    key = _encode_field(1, name.encode())
    packed = b"\n" + encode_varint(length)
    feature = (
        b"%c" % (field_number << 3 | 2)
        + encode_varint(len(packed) + length)
        + packed
    )
    value = b"\x12" + encode_varint(len(feature) + length) + feature
    return b"\n" + encode_varint(len(key) + len(value) + length) + key + value


def _encode_field(field_number: int, payload: bytes) -> bytes:
    return b"%c%b%b" % (
        field_number << 3 | 2,
        encode_varint(len(payload)),
        payload,
    )


def feature_lengths(record: bytes) -> dict[str, int]:
    """Returns {name: number of values} of a serialized `tf.train.Example`.

    Examples:
        >>> feature_lengths(encode_example({"ids": [7, 300], "weight": [0.5]}))
        {'ids': 2, 'weight': 1}

    Raises:
        ValueError: the record is not a `tf.train.Example`.
    """
    try:
        return dict(_read_lengths(record))
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise ValueError("the record is not a tf.train.Example") from error


def _read_lengths(record: bytes) -> Iterator[tuple[str, int]]:
    """Yields (name, number of values) of each feature of a record.

    Raises the errors that `feature_lengths` catches.
    """
    for _, features in _read_fields(record):
        for _, entry in _read_fields(features):
            named = dict(_read_fields(entry))
            yield named[1].decode(), _feature_length(named[2])


def _feature_length(feature: bytes) -> int:
    return sum(
        _count_values(field_number, packed)
        for field_number, values in _read_fields(feature)
        for _, packed in _read_fields(values)
    )


def _count_values(field_number: int, packed: bytes) -> int:
    if field_number == _FLOATS_FIELD:
        return len(packed) // 4
    if field_number == _INTS_FIELD:
        # The top bit is 0 in the last byte of an integer.
        return sum(byte < 128 for byte in packed)
    # Texts are not packed.
    return 1


def _read_fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields (number, value) of each field of a message of protocol buffers.

    Raises an IndexError if the bytes are not a message.
    """
    end = 0
    while end < len(message):
        key, key_end = _read_varint(message, end)
        start, end = _read_value_bounds(message, key_end, wire_type=key & 7)
        if end > len(message):
            raise IndexError
        yield key >> 3, message[start:end]


def _read_value_bounds(
    message: bytes, key_end: int, wire_type: int
) -> tuple[int, int]:
    """Returns the start and end in a message of the value after a key."""
    if wire_type == 0:
        _, end = _read_varint(message, key_end)
        return key_end, end
    if wire_type == 1:
        return key_end, key_end + 8
    if wire_type == 2:
        size, start = _read_varint(message, key_end)
        return start, start + size
    if wire_type == 5:
        return key_end, key_end + 4
    raise IndexError


def _read_varint(message: bytes, start: int) -> tuple[int, int]:
    """Returns (the number that `encode_varint` wrote at `start`, its end).

    Raises an IndexError if the message ends before the number.
    """
    last = start
    while message[last] >= 128:
        last += 1
    value = 0
    for byte in reversed(message[start : last + 1]):
        value = value << 7 | byte & 127
    return value, last + 1
