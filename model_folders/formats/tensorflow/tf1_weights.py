"""Opens checkpoints of TensorFlow, and checks their files.

The name of a checkpoint, such as `bert_model.ckpt`, is the common prefix of its
files, `bert_model.ckpt.index` and `bert_model.ckpt.data-00000-of-00001`.
"""

import contextlib
import functools
import math
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from files.paths import StrPath, literal_path
from model_folders.formats.tensorflow.tf1_index import check_index


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
    """A checkpoint that is open.

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
    """Opens a checkpoint that `find_tf1_checkpoint` returned.

    Raises:
        OSError: the checkpoint cannot be read.
    """
    _check_index(f"{prefix}.index")
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


def _check_index(path: str) -> None:
    """Checks the index of a checkpoint, unless the same file was checked.

    A checkpoint is opened once for each weight.
    """
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(path)
        _check_version(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=8)
def _check_version(path: str, mtime: int, size: int) -> None:
    try:
        check_index(path)
    except ValueError as error:
        prefix = path.removesuffix(".index")
        raise OSError(
            f"The checkpoint {prefix} cannot be read: {error}"
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
