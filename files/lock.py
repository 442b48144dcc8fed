"""Locks an output, so that two processes cannot write it at the same time."""

import contextlib
import itertools
import logging
import os
from collections.abc import Iterator
from pathlib import Path

from files.atomic import try_lock
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
    path = Path(path).absolute()
    missing = [*itertools.takewhile(lambda up: not up.is_dir(), path.parents)]
    # The previous process may remove the file or its folder at any time.
    attempts = (_acquire(path, name) for _ in range(1000))
    number = next((each for each in attempts if each is not None), None)
    if number is None:
        raise FileNotFoundError(f"{name}: the lock {path} cannot be created")
    try:
        yield
    finally:
        # Remove the file before the lock is released, and only an empty one:
        # other files of this name, such as poetry.lock, are the user's.
        if _is_at(path, number) and path.is_file() and not path.stat().st_size:
            path.unlink()
        os.close(number)
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _acquire(path: Path, name: str) -> int | None:
    """Returns the descriptor of the locked file, or None to try again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        number = os.open(path, flags, 0o666)
    except (FileNotFoundError, FileExistsError):
        return None
    is_locked = try_lock(number)
    if is_locked is False:
        os.close(number)
        raise BlockingIOError(
            f"{name} is in use by another process, which locked {path}. Wait "
            "until that process ends, or use another path"
        )
    if is_locked is None:
        logging.warning("%s: this system cannot lock files", name)
        return number
    if _is_at(path, number):
        return number
    os.close(number)
    return None


def _is_at(path: Path, number: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(number))
    return False
