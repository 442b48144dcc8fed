"""Finds files, names them for TensorFlow, and names them in errors."""

import contextlib
import glob
import os
import re
import tempfile
from collections.abc import Iterator
from typing import TypeAlias

StrPath: TypeAlias = str | os.PathLike[str]

# Characters that are special in patterns.
_PATTERN_CHARACTER = re.compile(r"[*?\[\\]")


def is_remote(path: StrPath) -> bool:
    """Returns whether a path contains a scheme, such as `gs://`."""
    return "://" in os.fspath(path)


def absolute_path(path: str) -> str:
    """Returns a path that names the same file in processes of other folders."""
    return path if is_remote(path) else os.path.join(os.getcwd(), path)


def list_matches(pattern: str) -> list[str]:
    """Returns the local files and folders that a pattern matches, sorted.

    If the pattern is the path of an existing file, returns that file. If the
    pattern begins with the path of an existing folder, `*` and other special
    characters in that path match only themselves.
    """
    if os.path.isfile(pattern):
        return [pattern]
    folder = os.path.dirname(pattern)
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return sorted(glob.glob(glob.escape(folder) + pattern[len(folder) :]))


@contextlib.contextmanager
def literal_path(path: StrPath) -> Iterator[str]:
    """Yields a path under which TensorFlow can read a checkpoint or folder.

    TensorFlow treats the paths of checkpoints and of a SavedModel's weights as
    patterns, so it finds no checkpoint in a folder `run [1]`. If a path
    contains special characters, this function links to its folder from a
    temporary folder, which exists until the `with` block ends.

    Args:
        path: path of a folder, or prefix of a checkpoint.
    """
    path, name = os.fspath(path), ""
    if not _PATTERN_CHARACTER.search(path):
        yield path
        return
    # Do not use `abspath`, because it changes `link/..` to the folder that
    # contains the link, and not to the parent of the link's target.
    folder = os.path.join(os.getcwd(), path)
    if not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    with tempfile.TemporaryDirectory() as links:
        os.symlink(folder, os.path.join(links, "linked"))
        yield os.path.join(links, "linked", name)


@contextlib.contextmanager
def explain_file_errors(path: StrPath) -> Iterator[None]:
    """Adds `path` to an OSError in a `with` block, if the error names no file.

    Python names the file in errors of `open`, but not in errors of reading and
    writing.

    Raises:
        OSError: the error of the block.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def explain_tensorflow_errors(path: StrPath) -> Iterator[None]:
    """Turns errors of TensorFlow's writers in a `with` block into OSErrors.

    Raises:
        OSError: TensorFlow could not write. The message begins with `path`.
    """
    # TensorFlow loads slowly, but whoever writes by it has loaded it.
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        # Remove the names of TensorFlow's operation from the message, because
        # they do not help a user.
        message = re.sub(r"^\{\{.*?\}\} | \[Op:\w+\]", "", error.message)
        raise OSError(f"{path} cannot be written: {message}") from error
