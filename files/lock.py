"""Locks files and folders, so that two processes cannot write them at once."""

import contextlib
import enum
import fcntl
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from files.paths import StrPath


@contextlib.contextmanager
def hold_lock(path: StrPath, name: str) -> Iterator[None]:
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
    missing = [
        *itertools.takewhile(
            lambda ancestor: not ancestor.is_dir(), path.parents
        )
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    # A process that ended after the file was opened has removed the file.
    is_locked_by_other = try_lock(descriptor) == LockResult.LOCKED_BY_OTHER
    if is_locked_by_other or not is_path_of(path, descriptor):
        os.close(descriptor)
        raise BlockingIOError(
            f"{name} is in use by another process, which locked {path}. Wait "
            "until that process ends, or use another path"
        )
    try:
        yield
    finally:
        # Remove only an empty file, because other files of this name, such as
        # poetry.lock, are the user's.
        if (
            is_path_of(path, descriptor)
            and path.is_file()
            and not path.stat().st_size
        ):
            path.unlink()
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()
        os.close(descriptor)


class LockResult(enum.Enum):
    """The result of trying to lock a file or a folder.

    Attributes:
        LOCKED: this process has locked it.
        LOCKED_BY_OTHER: another process has locked it.
        UNSUPPORTED: the file system has no locks.
    """

    LOCKED = enum.auto()
    LOCKED_BY_OTHER = enum.auto()
    UNSUPPORTED = enum.auto()


def try_lock(descriptor: int) -> LockResult:
    """Locks an open file or folder, if no other process has locked it.

    A process locks each partial file while it writes the file.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return LockResult.LOCKED_BY_OTHER
    except OSError:
        return LockResult.UNSUPPORTED
    return LockResult.LOCKED


def is_path_of(path: StrPath, descriptor: int) -> bool:
    """Returns whether a path leads to an open file or folder."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samefile(path, descriptor)
    return False
