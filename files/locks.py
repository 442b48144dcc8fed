"""A lock that keeps two processes from writing the same output.

The lock is a file that names its owner. The system releases it when that
process ends in any way, so a lock left behind on this host is taken over.
Whether a process on another host still runs can only be checked there, as the
message says.
"""

import contextlib
import datetime
import errno
import json
import logging
import os
import socket
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from files.atomic import is_remote
from files.json_files import parse_json

# Errors of file systems that cannot lock; then only another host's file counts.
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)

# Attempts to create a folder that another process keeps removing.
_ATTEMPTS = 1000

# First bytes of a lock file.
_BEGIN = '{"host": '


@contextlib.contextmanager
def hold(path: str | os.PathLike[str], name: str) -> Iterator[None]:
    """Holds a lock while the block lasts.

    Missing folders are created; those still empty at the end are removed.
    Remote paths are not locked.

    Args:
        path: the lock file, next to or inside what it protects.
        name: what it protects, for the message: "--output_dir=run".

    Raises:
        OSError: another process holds it, or may hold it on another host; or
            the file cannot be written or is not a lock.
    """
    path = os.fspath(path)
    if is_remote(path):
        yield
        return
    missing = _missing_folders(os.path.dirname(os.path.abspath(path)))
    try:
        file = _acquire(path, name)
        try:
            yield
        finally:
            # Removed while still locked; the next process creates a new file.
            if _is_at(path, file):
                os.remove(path)
            file.close()
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def _missing_folders(folder: str) -> list[str]:
    """Returns the missing folders of a path, deepest first."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def _open(path: str) -> TextIO:
    """Opens the lock file, creating it and its folder."""
    attempts_left = _ATTEMPTS
    while True:
        try:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
            return open(path, "a+", encoding="utf-8", errors="replace")
        except (FileNotFoundError, FileExistsError):
            # The previous process may be removing the folders that it created.
            attempts_left -= 1
            if not attempts_left:
                raise


def _acquire(path: str, name: str) -> TextIO:
    """Returns the lock file, open, locked and naming this process."""
    while True:
        file = _open(path)
        try:
            if not _lock(file):
                raise BlockingIOError(
                    f"{name} is in use by {_describe(_read_owner(file))}; "
                    "wait for it to end, or give another path"
                )
            # Otherwise the previous owner removed it between the lines above.
            if _is_at(path, file):
                _sign(path, file, name)
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def _sign(path: str, file: TextIO, name: str) -> None:
    """Writes this process into the lock file, replacing one that ended.

    Raises:
        OSError: the previous owner was on another host, so it may still run; or
            the file is not a lock.
    """
    _check_is_lock(path, file, name)
    owner = _read_owner(file)
    host = socket.gethostname()
    if owner and owner["host"] != host:
        raise BlockingIOError(
            f"{name} is in use, or was left behind, by {_describe(owner)}; if "
            f"it no longer runs there, remove {path}"
        )
    if owner:
        logging.warning(
            "%s was left unfinished by %s; continuing.", name, _describe(owner)
        )
    now = datetime.datetime.now().isoformat(" ", "seconds")
    try:
        file.truncate(0)
        json.dump({"host": host, "pid": os.getpid(), "started": now}, file)
        file.flush()
    except OSError as error:
        os.remove(path)
        raise OSError(error.errno, error.strerror, path) from error


def _check_is_lock(path: str, file: TextIO, name: str) -> None:
    """Refuses a file that does not hold a lock or its beginning."""
    file.seek(0)
    begin = file.read(len(_BEGIN))
    if not _BEGIN.startswith(begin):
        raise FileExistsError(
            f"{name} needs the name {path} for its lock, but there is another "
            "file of that name; rename that file, or give another path"
        )


def _lock(file: TextIO) -> bool:
    try:
        import fcntl
    except ImportError:
        # As on a file system that cannot lock.
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


def _read_owner(file: TextIO) -> dict[str, Any] | None:
    """Returns the owner that a lock file names; None if it names none yet."""
    file.seek(0)
    try:
        owner = parse_json(file.read(), "the lock")
        return {key: owner[key] for key in ("host", "pid", "started")}
    except (ValueError, TypeError, KeyError):
        return None


def _describe(owner: Mapping[str, Any] | None) -> str:
    if owner is None:
        return "another process"
    return "process {pid} on host {host}, since {started}".format(**owner)


def _is_at(path: str, file: TextIO) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
