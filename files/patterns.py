"""Finds files by patterns such as `records-*`.

Also creates links, so that TensorFlow can read files whose names contain `*`,
`?`, `[` or a backslash.
"""

import contextlib
import glob
import os
import re
import tempfile
from collections.abc import Iterator

_PATTERN = re.compile(r"[*?\[\\]")


def find_matches(pattern: str) -> list[str]:
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
def literal_name(path: str | os.PathLike[str]) -> Iterator[str]:
    r"""Yields a path under which TensorFlow can read a checkpoint or folder.

    TensorFlow treats the paths of checkpoints and of a SavedModel's weights as
    patterns, so it finds no checkpoint in a folder `run [1]`. If a local path
    contains `*`, `?`, `[` or `\`, this function creates links to its files in a
    temporary folder.

    Args:
        path: path of a folder, or prefix of a checkpoint.

    Yields:
        a path without these characters, which exists until the `with` block
        ends.
    """
    path = os.fspath(path)
    local = path.removeprefix("file://").rstrip(os.sep)
    if "://" in local or not _PATTERN.search(local):
        yield path
        return
    # Do not use `abspath`, because it changes `link/..` to the folder that
    # contains the link, and not to the parent of the link's target.
    local = os.path.join(os.getcwd(), local)
    folder, name = os.path.split(local)
    with tempfile.TemporaryDirectory() as links:
        linked = os.path.join(links, "linked")
        if os.path.isdir(local):
            os.symlink(local, linked)
        for found in os.listdir(folder):
            if found.startswith(f"{name}."):
                ending = found.removeprefix(name)
                os.symlink(os.path.join(folder, found), linked + ending)
        yield linked
