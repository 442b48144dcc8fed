"""Patterns such as `records-*`, and names that only look like one."""

import contextlib
import glob
import os
import re
import tempfile
from collections.abc import Iterator

from files.atomic import is_remote

_PATTERN = re.compile(r"[*?\[\\]")


def find_matches(pattern: str) -> list[str]:
    """Returns the local files and folders that a pattern matches, sorted.

    A path that exists, or a folder that does before a pattern, is taken as it
    stands, whatever characters it has.
    """
    if os.path.exists(pattern):
        return [pattern]
    folder, name = os.path.split(pattern)
    if os.path.isdir(folder):
        pattern = os.path.join(glob.escape(folder), name)
    return sorted(glob.glob(pattern))


@contextlib.contextmanager
def literal_name(path: str | os.PathLike[str]) -> Iterator[str]:
    r"""Gives a checkpoint or folder a name that TensorFlow reads as it stands.

    TensorFlow looks for checkpoints, and for a SavedModel's weights, by
    pattern: in a folder `run [1]` it finds none. Local paths with `*`, `?`, `[`
    or `\` are therefore read through links in a temporary folder.

    Args:
        path: a folder, or what the names of a checkpoint's files begin with.

    Yields:
        a name for it, valid inside the block.
    """
    path = os.fspath(path)
    if is_remote(path) or not _PATTERN.search(path):
        yield path
        return
    folder, name = os.path.split(os.path.abspath(path))
    with tempfile.TemporaryDirectory() as links:
        linked = os.path.join(links, "linked")
        for found in os.listdir(folder):
            if found == name or found.startswith(f"{name}."):
                ending = found.removeprefix(name)
                os.symlink(os.path.join(folder, found), linked + ending)
        yield linked
