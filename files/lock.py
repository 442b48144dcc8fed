"""Locks an output, so that two processes cannot write it at the same time."""

import contextlib
import itertools
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from files.paths import StrPath


@contextlib.contextmanager
def hold(path: StrPath, name: str) -> Iterator[None]:
    """Locks an output until the `with` block or the process ends.

    The operating system holds the lock, so even a killed process releases it.
    At the end, removes the lock file, unless it is a user's file, and the
    folders that this function created for it, if they are empty.

    Args:
        path: path of the lock file, beside or inside the protected output.
        name: the output's name for messages, such as "--output_dir=run".

    Raises:
        OSError: another process has locked the output, or `path` cannot be
            opened, for example because it is a link.
    """
    parents = Path(os.path.abspath(path)).parents
    missing = [*itertools.takewhile(lambda up: not up.is_dir(), parents)]
    number = _acquire(path, name)
    try:
        yield
    finally:
        # Remove the file before the lock is released, and only an empty one:
        # other files of this name, such as poetry.lock, are the user's.
        if _is_at(path, number) and os.path.isfile(path):
            if not os.path.getsize(path):
                os.remove(path)
        os.close(number)
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _acquire(path: StrPath, name: str) -> int:
    """Returns the descriptor of the locked file."""
    attempts_left = 1000
    while True:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            number = os.open(path, flags, 0o666)
        except (FileNotFoundError, FileExistsError):
            # The previous process may be removing the folder, so try again.
            attempts_left -= 1
            if not attempts_left:
                raise
            continue
        try:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(number)
            raise BlockingIOError(
                f"{name} is in use by another process, which locked {path}. "
                "Wait until that process ends, or use another path"
            ) from error
        except (ImportError, OSError):
            logging.warning("%s: this system cannot lock files", name)
            return number
        # The previous process may have removed the file before this one locked
        # it. Then the next process would lock another file.
        if _is_at(path, number):
            return number
        os.close(number)


def _is_at(path: StrPath, number: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.lstat(path), os.fstat(number))
    return False
