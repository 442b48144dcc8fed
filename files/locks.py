"""A lock that keeps two processes from writing the same output.

The lock is a file that names its owner. The system releases it when that
process ends in any way, so a lock left behind on this host is taken over.
Whether a process on another host still runs can only be checked there, as the
message says.
"""

import contextlib
import datetime
import errno
import itertools
import json
import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from files.atomic import is_remote
from files.json_files import parse_json
from files.named_errors import named_errors

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
    parents = Path(os.path.abspath(path)).parents
    missing = [*itertools.takewhile(lambda up: not os.path.isdir(up), parents)]
    try:
        with _acquire(path, name) as file:
            try:
                yield
            finally:
                # Removed while locked; the next process creates a new file.
                if _is_at(path, file):
                    os.remove(path)
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _acquire(path: str, name: str) -> TextIO:
    """Returns the lock file, open, locked and naming this process."""
    while True:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(_open(path))
            if not _lock(file):
                raise BlockingIOError(
                    f"{name} is in use by {_describe(_read_owner(file))}; "
                    "wait for it to end, or give another path"
                )
            # Otherwise the previous owner removed it between the lines above.
            if _is_at(path, file):
                _sign(path, file, name)
                stack.pop_all()
                return file


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


def _lock(file: TextIO) -> bool:
    try:
        import fcntl
    except ImportError:
        logging.warning("%s: Windows lacks fcntl, so nothing locks", file.name)
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


def _sign(path: str, file: TextIO, name: str) -> None:
    """Writes this process into the lock file, replacing one that ended.

    Raises:
        OSError: the previous owner was on another host, so it may still run; or
            the file is not a lock or the beginning of one.
    """
    file.seek(0)
    if not _BEGIN.startswith(file.read(len(_BEGIN))):
        raise FileExistsError(
            f"{name} needs the name {path} for its lock, but there is another "
            "file of that name; rename that file, or give another path"
        )
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
        with named_errors(path):
            file.truncate(0)
            json.dump({"host": host, "pid": os.getpid(), "started": now}, file)
            file.flush()
    except OSError:
        os.remove(path)
        raise


def _read_owner(file: TextIO) -> dict[str, Any] | None:
    """Returns the owner that a lock file names; None if it names none yet."""
    file.seek(0)
    try:
        owner = parse_json(file.read(), "the lock")
        return {key: owner[key] for key in ("host", "pid", "started")}
    except (ValueError, KeyError):
        return None


def _describe(owner: dict[str, Any] | None) -> str:
    if owner is None:
        return "another process"
    return "process {pid} on host {host}, since {started}".format(**owner)


def _is_at(path: str, file: TextIO) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
