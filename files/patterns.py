"""Finds files by patterns such as `records-*`.

Also lets TensorFlow read files whose names look like patterns.
"""

import contextlib
import glob
import os
import re
import tempfile
from collections.abc import Iterator

from files.atomic import is_remote
from files.paths import StrPath

_PATTERN = re.compile(r"[*?\[\\]")


def find_matches(pattern: str) -> list[str]:
    """Returns the local files and folders that a pattern matches, sorted.

    If the pattern is the name of an existing file, returns that file. In the
    names of existing leading folders, `*` and other characters of patterns have
    no special meaning.
    """
    if os.path.isfile(pattern):
        return [pattern]
    folder = os.path.dirname(pattern)
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return sorted(glob.glob(glob.escape(folder) + pattern[len(folder) :]))


@contextlib.contextmanager
def literal_name(path: StrPath) -> Iterator[str]:
    r"""Yields a name for a checkpoint or folder that TensorFlow can read.

    TensorFlow treats the paths of checkpoints and of a SavedModel's weights as
    patterns, so it finds no checkpoint in a folder `run [1]`. Therefore this
    function links to local paths with `*`, `?`, `[` or `\` from a temporary
    folder.

    Args:
        path: path of a folder, or prefix of a checkpoint.

    Yields:
        a name for the path, valid inside the block.

    Raises:
        OSError: the path of TMPDIR contains one of these characters too.
    """
    path = os.fspath(path)
    local = path.removeprefix("file://").rstrip(os.sep)
    if is_remote(local) or not _PATTERN.search(local):
        yield path
        return
    # Do not use `abspath`, which resolves `link/..` to the link's own folder.
    local = os.path.join(os.getcwd(), local)
    folder, name = os.path.split(local)
    with tempfile.TemporaryDirectory() as links:
        if _PATTERN.search(links):
            raise OSError(
                f"{path} must be read through links in TMPDIR, whose path "
                f"must not contain any of * ? [ \\ either. Received: {links}; "
                "set TMPDIR to another folder"
            )
        linked = os.path.join(links, "linked")
        if os.path.isdir(local):
            os.symlink(local, linked)
        for found in os.listdir(folder):
            if found.startswith(f"{name}."):
                ending = found.removeprefix(name)
                os.symlink(os.path.join(folder, found), linked + ending)
        yield linked
