"""Checks the files of TensorFlow 1's checkpoints, and opens them.

modeling/checkpoints/tf1_checkpoint.py loads them into models. The name of a
checkpoint, such as `bert_model.ckpt`, is the common prefix of its files,
`bert_model.ckpt.index` and `bert_model.ckpt.data-00000-of-00001`.
object_based_weights.py reads checkpoints with the same files, in which a graph
contains the names.
"""

import contextlib
import functools
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import tensor_bundle_pb2

from files.paths import StrPath, literal_path

# The end of an index: a footer of this size, which ends with these bytes.
_FOOTER_SIZE = 48
_MAGIC = bytes.fromhex("57fb808b247547db")


class TensorReader(Protocol):
    """TensorFlow's reader of a checkpoint, which has no types of its own."""

    def has_tensor(self, name: str, /) -> bool:
        """Returns whether the checkpoint contains a variable."""

    def get_tensor(self, name: str, /) -> Any:  # noqa: ANN401  array or bytes
        """Returns the value of a variable, an array, or bytes for a string."""

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Returns {name: shape} of all variables."""

    def get_variable_to_dtype_map(self) -> dict[str, tf.DType]:
        """Returns {name: type} of all variables."""


class OpenTf1Checkpoint(NamedTuple):
    """An open checkpoint of TensorFlow 1, whose variables can be read.

    Attributes:
        reader: reader of the checkpoint's variables.
        prefix: prefix of the files, to pass to TensorFlow's operations. It
            contains no wildcards, such as `*`, because TensorFlow would expand
            them.
    """

    reader: TensorReader
    prefix: str


@contextlib.contextmanager
def open_tf1_checkpoint(prefix: StrPath) -> Iterator[OpenTf1Checkpoint]:
    """Opens a checkpoint that `find_tf1_checkpoint` returned."""
    _check_index_once(f"{prefix}.index")
    with literal_path(prefix) as name:
        try:
            yield OpenTf1Checkpoint(tf.train.load_checkpoint(name), name)
        # A truncated file causes an IndexError.
        except (tf.errors.OpError, IndexError) as error:
            reason = getattr(error, "message", str(error)).strip()
            reason = reason.split("\n", 1)[0].replace(name, str(prefix))
            raise OSError(
                f"The checkpoint {prefix} cannot be read: {reason}"
            ) from error


def check_tf1_files(prefix: str) -> None:
    """Raises an error if a file's size shows that a checkpoint is damaged.

    Raises:
        OSError: the index cannot be read, or the data files are missing or
            shorter than the variables that the index lists.
    """
    with open_tf1_checkpoint(prefix) as (reader, readable):
        shapes = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
        files = tf.io.gfile.glob(f"{readable}.data-*")
        length = sum(tf.io.gfile.stat(file).length for file in files)
    # Skip string entries, because their size does not follow from their shape.
    needed = sum(
        math.prod(shape) * dtypes[name].size
        for name, shape in shapes.items()
        if dtypes[name] != tf.string
    )
    if length < needed:
        raise OSError(
            f"{prefix} cannot be read: its variables need {needed} bytes, but "
            f"the files {prefix}.data-* contain {length}. Copy the complete "
            "checkpoint again"
        )


def _check_index_once(path: str) -> None:
    """Checks the index of a checkpoint, unless the same file was checked.

    A checkpoint may be opened once for each weight.
    """
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(path)
        _check_index_version(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=8)
def _check_index_version(path: str, mtime: int, size: int) -> None:
    """Checks an index again only if its time or its size has changed."""
    try:
        check_index(path)
    except ValueError as error:
        prefix = path.removesuffix(".index")
        raise OSError(
            f"The checkpoint {prefix} cannot be read: {error}"
        ) from error


def check_index(path: str) -> None:
    """Checks that each entry of an index describes a tensor.

    TensorFlow ends the process if an entry is malformed, so the index is
    checked first. It is a table of LevelDB: blocks of sorted entries, whose
    keys share their beginnings.

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
