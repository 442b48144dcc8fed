"""Patterns such as `records-*`, and names that only look like one."""

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

    A file that exists is meant as it stands, and so are the folders that do
    before the pattern, whatever characters their names have.
    """
    if os.path.isfile(pattern):
        return [pattern]
    folder = os.path.dirname(pattern)
    while folder and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return sorted(glob.glob(glob.escape(folder) + pattern[len(folder) :]))


@contextlib.contextmanager
def literal_name(path: StrPath) -> Iterator[str]:
    r"""Gives a checkpoint or folder a name that TensorFlow reads as it stands.

    TensorFlow looks for checkpoints, and for a SavedModel's weights, by
    pattern: in a folder `run [1]` it finds none. Local paths with `*`, `?`, `[`
    or `\` are therefore read through links in a temporary folder.

    Args:
        path: a folder, or what the names of a checkpoint's files begin with.

    Yields:
        a name for it, valid inside the block.

    Raises:
        OSError: the folder for temporary files has such a name too.
    """
    path = os.fspath(path)
    local = path.removeprefix("file://").rstrip(os.sep)
    if is_remote(local) or not _PATTERN.search(local):
        yield path
        return
    # Not `abspath`, which takes `link/..` for the folder that holds the link.
    local = os.path.join(os.getcwd(), local)
    folder, name = os.path.split(local)
    with tempfile.TemporaryDirectory() as links:
        if _PATTERN.search(links):
            raise OSError(
                f"{path} has to be read through links in TMPDIR, whose name "
                f"may not have any of * ? [ \\ either. Received: {links}; set "
                "TMPDIR to another folder"
            )
        linked = os.path.join(links, "linked")
        if os.path.isdir(local):
            os.symlink(local, linked)
        for found in os.listdir(folder):
            if found.startswith(f"{name}."):
                ending = found.removeprefix(name)
                os.symlink(os.path.join(folder, found), linked + ending)
        yield linked
