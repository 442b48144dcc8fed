"""Locks an output, so that two processes cannot write it at the same time.

The lock is a locked file that names its owner, the process that locked it. When
the owner ends, even if it is killed, the operating system releases the lock,
and the next process locks the file. This also works between containers on one
machine. A file system may hide the locks of other machines. So if the file
names an owner on another machine, an error message asks the user to check
whether that process is still running.
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
from files.flags import is_on
from files.json_files import parse_json
from files.paths import StrPath, named_errors

# Errors of file systems that do not support locks. On these file systems, a
# process stops only if the lock file names another host.
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)
# Maximum number of attempts to create the folder of a lock, in case another
# process keeps removing it.
_ATTEMPTS = 1000
# {type of file that cannot be a lock: function that returns whether a path is
# of this type}. A symbolic link could point to a user's file.
_OTHERS = {
    "symbolic link": os.path.islink,
    "folder": os.path.isdir,
    "pipe": lambda path: Path(path).is_fifo(),
}
# The text with which a lock file begins.
_BEGIN = '{"host": '


@contextlib.contextmanager
def hold(path: StrPath, name: str) -> Iterator[None]:
    """Locks an output until the `with` block ends.

    Creates the folders of the lock file if they are missing. At the end,
    removes the created folders if they are empty. Does not lock remote paths.

    Args:
        path: path of the lock file, beside or inside the protected output.
        name: the output's name for messages, such as "--output_dir=run".

    Raises:
        OSError: another process has locked the output, or a process on another
            host may have locked it. Also if the lock file cannot be written, or
            if the file at `path` is not a lock file.
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
                # Remove the file before the lock is released. The next process
                # creates a new file.
                if _is_at(path, file):
                    os.remove(path)
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _acquire(path: str, name: str) -> TextIO:
    """Opens and locks the lock file, and records this process as its owner.

    Creates the file and its folder if they are missing. `name` is the output's
    name for error messages.
    """
    attempts_left = _ATTEMPTS
    while True:
        with contextlib.ExitStack() as stack:
            try:
                os.makedirs(
                    os.path.dirname(os.path.abspath(path)), exist_ok=True
                )
                file = stack.enter_context(
                    open(
                        path,
                        "a+",
                        encoding="utf-8",
                        errors="replace",
                        opener=lambda path, mode: os.open(
                            path, mode | getattr(os, "O_NOFOLLOW", 0), 0o666
                        ),
                    )
                )
            except OSError as error:
                found = [kind for kind in _OTHERS if _OTHERS[kind](path)]
                if found:
                    raise FileExistsError(
                        f"{name} cannot be locked, because its lock file would "
                        f"be {path}, which is a {found[0]}. Rename or remove "
                        f"the {found[0]}"
                    ) from error
                # The previous owner may be removing the folders that it
                # created, so try again.
                attempts_left -= 1
                if attempts_left and isinstance(
                    error, FileNotFoundError | FileExistsError
                ):
                    continue
                raise
            is_locked = _lock(file)
            if is_locked is False:
                raise BlockingIOError(
                    f"{name} is in use by {_describe(_read_owner(file))}; "
                    "wait until that process ends, or use another path"
                )
            # If the previous owner removed the file after this process opened
            # it, open a new file.
            if _is_at(path, file):
                _sign(path, file, name, bool(is_locked))
                stack.pop_all()
                return file


def _lock(file: TextIO) -> bool | None:
    """Tries to lock a file, and returns whether this succeeded.

    Returns None if the system does not support locks.
    """
    try:
        import fcntl
    except ImportError:
        logging.warning(
            "%s: Windows lacks fcntl, so the output is not locked", file.name
        )
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return None
    return True


def _sign(path: str, file: TextIO, name: str, is_locked: bool) -> None:
    """Records in the lock file that this process is its owner.

    Raises an error if the file is not a lock, or if a process on another host
    may own it. `is_locked` is False if the file system does not support locks.
    """
    file.seek(0)
    # Ignore NUL bytes, which a power cut may have left in the file.
    text = file.read().rstrip("\0")
    if not _BEGIN.startswith(text[: len(_BEGIN)]):
        raise FileExistsError(
            f"{name} cannot be locked, because {path} is not a lock file; "
            "rename the file, or use another output path"
        )
    owner, host, kernel = _read_owner(file), socket.gethostname(), None
    # Record the id of the running kernel and also the mounted file system,
    # because a network file system that is mounted twice may use separate
    # locks.
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        kernel = f"{boot}/{os.fstat(file.fileno()).st_dev}"
    is_near = owner and (
        owner["host"] == host
        # The owner ran on this machine, perhaps in another container. If it
        # were still running, this process could not have locked the file.
        or (is_locked and kernel and owner["kernel"] == kernel)
    )
    if owner and not is_near and not is_on("take_over_lock"):
        raise BlockingIOError(
            f"{name} is locked by {_describe(owner)}, which may still run. "
            f"If it has ended, remove {path}, or set --take_over_lock"
        )
    if owner:
        logging.warning(
            "%s: %s ended before it finished. This command takes over.",
            name,
            _describe(owner),
        )
    now = datetime.datetime.now().isoformat(" ", "seconds")
    try:
        with named_errors(path):
            file.truncate(0)
            signature = {"host": host, "pid": os.getpid(), "started": now}
            json.dump({**signature, "kernel": kernel}, file)
            file.flush()
    except OSError:
        os.remove(path)
        raise


def _read_owner(file: TextIO) -> dict[str, Any] | None:
    """Returns the owner that a lock file names, or None if it names no owner.

    The owner is a dict with the keys host, pid, started and kernel.
    """
    file.seek(0)
    try:
        owner = parse_json(file.read(), "the lock")
        known = {key: owner[key] for key in ("host", "pid", "started")}
        return {**known, "kernel": owner.get("kernel")}
    except (ValueError, KeyError):
        return None


def _describe(owner: dict[str, Any] | None) -> str:
    if owner is None:
        return "another process"
    return "process {pid} on host {host}, started at {started}".format(**owner)


def _is_at(path: str, file: TextIO) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
