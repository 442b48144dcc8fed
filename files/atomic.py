"""Writes files that appear complete or not at all.

The bytes are written to a partial file beside the final one. When all bytes are
on the disk, the partial file is renamed in one step, so even after a power cut
either the old or the new file is complete. `tf.io.gfile` writes paths with a
scheme, such as `gs://`.
"""

import contextlib
import fcntl
import logging
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from typing import IO

from files.lock import LockResult, is_path_of, try_lock
from files.paths import StrPath, explain_file_errors, is_remote


def partial_path(path: StrPath) -> str:
    """Returns the temporary name under which this process writes `path`.

    The name ends with a number of this machine and the process id, so no other
    process uses it, even if several machines write to one file system. The
    number is needed because processes in containers often have the same id.
    """
    machine = zlib.crc32(os.uname().nodename.encode())
    return f"{os.fspath(path)}.partial-{machine}{os.getpid():07d}"


def sync_to_disk(path: StrPath) -> None:
    """Waits until a file's bytes, or the names in a folder, are on the disk.

    A power cut may lose bytes or names that are not yet on the disk. Does
    nothing for folders that the system cannot sync.

    Raises:
        OSError: the disk failed.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        if not os.path.isdir(path):
            raise


@contextlib.contextmanager
def atomic_open(path: StrPath) -> Iterator[IO[bytes]]:
    """Opens a file to write bytes. The file appears complete or not at all.

    The file appears when the `with` block ends without an error. If the path is
    a symbolic link, the file replaces the link's target. A new file gets the
    permissions of the file that it replaces. FIFOs and devices cannot be
    replaced, so the bytes are written to them directly. Missing folders are
    created.

    Raises:
        OSError: the file cannot be written. The message names `path`.
    """
    path = os.fspath(path)
    opened: contextlib.AbstractContextManager[IO[bytes]]
    # Add the path to errors that name no file, such as "No space left on
    # device".
    with explain_file_errors(path):
        if is_remote(path):
            opened = _remote_open(path)
        elif os.path.exists(path) and not os.path.isfile(path):
            opened = open(path, "wb")  # noqa: SIM115  entered below
        else:
            opened = _local_open(os.path.realpath(path))
        with opened as file:
            yield file


def write_text(path: StrPath, text: str) -> None:
    """Writes a UTF-8 text file, complete or not at all.

    Line ends are written as they are in `text`.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: StrPath, contents: bytes) -> None:
    """Writes a file of bytes, complete or not at all."""
    with atomic_open(path) as file:
        file.write(contents)


def remove_partial(path: StrPath) -> None:
    """Removes the partial files or folders of `path` that no process writes.

    Killed processes leave such files and folders behind. Their names are
    exactly the name of `path`, `.partial-` and a number.
    """
    folder, name = os.path.split(os.path.abspath(path))
    pattern = re.compile(rf"{re.escape(name)}\.partial-[0-9]+")
    # Ignore errors, because a partial file that stays does no harm.
    with contextlib.suppress(OSError):
        for partial_name in filter(pattern.fullmatch, os.listdir(folder)):
            _remove_unlocked(os.path.join(folder, partial_name))


def _remove_unlocked(partial: str) -> None:
    """Removes a partial file or folder, unless a process has locked it."""
    descriptor = os.open(partial, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # The process that wrote the file may have renamed it, and begun another
        # file.
        is_locked = try_lock(descriptor) == LockResult.LOCKED
        if is_locked and is_path_of(partial, descriptor):
            is_folder = os.path.isdir(partial)
            (shutil.rmtree if is_folder else os.remove)(partial)
            logging.info("Removed %s, which a killed process left", partial)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _local_open(path: str) -> Iterator[IO[bytes]]:
    """Writes a partial file, and renames it when its bytes are on the disk."""
    partial = partial_path(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    remove_partial(path)
    try:
        with _open_locked(partial) as file:
            yield file
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(path, partial)
            # Otherwise a power cut could leave an incomplete file under the
            # final name.
            sync_to_disk(partial)
            os.replace(partial, path)
        sync_to_disk(os.path.dirname(path))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)


def _open_locked(path: str) -> IO[bytes]:
    """Creates a file, and locks it.

    Until the file is locked, `remove_partial` of another process may remove it.
    In this case, this function creates the file again.
    """
    while True:
        file = open(path, "wb", buffering=1 << 20)  # noqa: SIM115  returned
        # Not all systems support locks.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if is_path_of(path, file.fileno()):
            return file
        file.close()


@contextlib.contextmanager
def _remote_open(path: str) -> Iterator[IO[bytes]]:
    """Writes a partial file with TensorFlow, and renames it."""
    # Only remote files need TensorFlow, which loads slowly.
    from tensorflow.io import gfile

    partial = partial_path(path)
    try:
        with gfile.GFile(partial, "wb") as file:
            yield file
        gfile.rename(partial, path, overwrite=True)
    finally:
        if gfile.exists(partial):
            gfile.remove(partial)
