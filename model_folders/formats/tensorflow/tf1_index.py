"""Checks the index of a TensorFlow checkpoint before TensorFlow reads it.

TensorFlow ends the process if an entry of the index is malformed. The index is
a table of LevelDB: blocks of sorted entries, whose keys share their beginnings.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import tensor_bundle_pb2

_FOOTER_SIZE = 48
_MAGIC = bytes.fromhex("57fb808b247547db")


def check_index(path: str) -> None:
    """Checks that each entry of an index describes a tensor.

    Args:
        path: path of the file, NAME.index.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no index, or an entry is malformed.
    """
    data = Path(path).read_bytes()
    if len(data) < _FOOTER_SIZE or not data.endswith(_MAGIC):
        raise ValueError("it is no index of a checkpoint")
    try:
        for key, value in _read_all_entries(data):
            # The entry without a name is a header.
            if key and not _is_tensor(value):
                raise ValueError(f"the entry {key!r:.200} is malformed")
    except (DecodeError, IndexError) as error:
        raise ValueError("its index is malformed") from error


def _is_tensor(value: bytes) -> bool:
    entry = tensor_bundle_pb2.BundleEntryProto.FromString(value)
    sizes = [axis.size for axis in entry.shape.dim]
    try:
        tf.dtypes.as_dtype(entry.dtype)
    except TypeError:
        return False
    is_complete = not entry.shape.unknown_rank and min(sizes, default=0) >= 0
    return is_complete and len(sizes) < 255 and math.prod(sizes) < 2**63


def _read_all_entries(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields (key, value) of the entries of an index."""
    # The footer contains the places of two blocks: of metadata, and of the list
    # of all other blocks.
    _, _, offset, size = _read_numbers(data[-_FOOTER_SIZE:], 0, 4)[0]
    for _, handle in _read_entries(data, offset, size):
        block_offset, block_size = _read_numbers(handle, 0, 2)[0]
        yield from _read_entries(data, block_offset, block_size)


def _read_entries(
    data: bytes, offset: int, size: int
) -> Iterator[tuple[bytes, bytes]]:
    """Yields (key, value) of the entries of a block."""
    block = data[offset : offset + size]
    # TensorFlow writes no compressed blocks.
    if len(block) < max(size, 4) or data[offset + size]:
        raise IndexError
    # The block ends with a list of positions, and their number.
    end = len(block) - 4 - 4 * int.from_bytes(block[-4:], "little")
    entry_offset = 0
    key = b""
    while entry_offset < end:
        (shared, rest, length), entry_offset = _read_numbers(
            block, entry_offset, 3
        )
        key = key[:shared] + block[entry_offset : entry_offset + rest]
        entry_offset += rest + length
        if entry_offset > end:
            raise IndexError
        yield key, block[entry_offset - length : entry_offset]


def _read_numbers(
    data: bytes, offset: int, num_numbers: int
) -> tuple[list[int], int]:
    """Reads `num_numbers` numbers of variable length from `offset` on.

    Returns (the numbers, the offset after them).
    """
    numbers = []
    for _ in range(num_numbers):
        last = offset
        while data[last] >= 128:
            last += 1
        value = 0
        for byte in reversed(data[offset : last + 1]):
            value = value << 7 | byte & 127
        numbers.append(value)
        offset = last + 1
    return numbers, offset
