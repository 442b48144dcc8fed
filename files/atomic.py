"""Writes files that appear complete or not at all.

The bytes are written to a partial file beside the final one. When all bytes are
on the disk, the partial file is renamed in one step, so even after a power cut
either the old or the new file is complete. `tf.io.gfile` writes paths with a
scheme, such as `gs://`.
"""

import contextlib
import errno
import logging
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from typing import IO, Any

from files import json_files
from files.paths import StrPath, named_errors


def is_remote(path: StrPath) -> bool:
    """Returns whether a path contains a scheme, such as `gs://`."""
    return "://" in os.fspath(path)


def partial_path(path: StrPath) -> str:
    """Returns the temporary name under which this process writes `path`.

    The name contains the process id, so no other process uses it.
    """
    return f"{os.fspath(path)}.partial-{os.getpid()}"


def sync(path: StrPath) -> None:
    """Waits until a file's bytes, or the names in a folder, are on the disk.

    A power cut may lose bytes or names that are not yet on the disk. Does
    nothing for remote paths, and on Windows, which cannot open folders.

    Raises:
        OSError: the disk failed.
    """
    if is_remote(path) or os.name == "nt":
        return
    try:
        number = os.open(path, os.O_RDONLY)
    except PermissionError:
        # The permissions let the user create files in this folder, but not list
        # them. Such a folder cannot be opened, so skip the sync.
        return
    try:
        os.fsync(number)
    except OSError as error:
        # Some file systems cannot sync folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(number)


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
    # Add the path to errors that name no file, such as "No space left on
    # device".
    opened: contextlib.AbstractContextManager[IO[bytes]]
    with named_errors(path):
        if is_remote(path):
            opened = _remote_open(path)
        elif os.path.isdir(path):
            raise IsADirectoryError(
                f"{path} is a folder. Use the path of a file"
            )
        elif os.path.exists(path) and not os.path.isfile(path):
            opened = open(path, "wb")
        else:
            # Resolve symbolic links, so that the file replaces the link's
            # target and not the link.
            opened = _local_open(os.path.realpath(path))
        with opened as file:
            yield file


def write_text(path: StrPath, text: str) -> None:
    """Writes a UTF-8 text file, complete or not at all.

    Line ends are written as they are in `text`.

    Raises:
        OSError: the file cannot be written.
        ValueError: the text cannot be written as UTF-8.
    """
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{os.fspath(path)}: the text contains {text[error.start]!r}, half "
            "of a surrogate pair, which UTF-8 cannot encode. Correct the text"
        ) from error
    write_bytes(path, encoded)


def write_bytes(path: StrPath, contents: bytes) -> None:
    """Writes a file of bytes, complete or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with atomic_open(path) as file:
        file.write(contents)


def write_json(path: StrPath, contents: Any) -> None:
    """Writes a JSON file, complete or not at all.

    Raises:
        OSError: the file cannot be written.
        TypeError: JSON cannot represent a value in `contents`.
        ValueError: a number in `contents` is not finite.
    """
    text = json_files.format_json(contents, os.fspath(path), indent=2)
    write_text(path, f"{text}\n")


def copy_file(source: StrPath, destination: StrPath) -> None:
    """Copies a local file. The copy appears complete or not at all.

    Does nothing if source and destination are the same file.

    Raises:
        OSError: the source cannot be read or the copy cannot be written.
    """
    if os.path.exists(destination) and os.path.samefile(source, destination):
        return
    with open(source, "rb") as reader, atomic_open(destination) as writer:
        block = b"at first"
        while block:
            with named_errors(source):
                block = reader.read(1 << 20)
            writer.write(block)


def remove_partial(
    folder: StrPath,
    is_output: Callable[[str], bool],
    is_locked: bool = True,
    folders: Collection[str] = (),
) -> None:
    """Removes partial files that killed processes left behind.

    Args:
        folder: path of a local folder, which may be missing.
        is_output: function that receives the final name of a partial file, and
            returns whether this command writes a file of this name.
        is_locked: True if only this process may write these files. If False,
            the function removes a file only if the operating system shows that
            no process is writing it.
        folders: names of output files that are written first into a temporary
            folder, named `NAME.partial-PID`, and then moved.
    """
    pattern = re.compile(r"(.+)\.partial-[0-9]+", re.DOTALL)
    found: list[str] = []
    with contextlib.suppress(OSError):
        found = os.listdir(folder)
    for match in filter(None, map(pattern.fullmatch, found)):
        path = os.path.join(folder, match[0])
        if not is_output(match[1]):
            continue
        in_use = _is_written(path)
        if in_use or (in_use is None and not is_locked):
            continue
        # Ignore errors, because a leftover partial file does no harm.
        with contextlib.suppress(OSError):
            is_folder = os.path.isdir(path) and not os.path.islink(path)
            if is_folder and match[1] in folders:
                shutil.rmtree(path)
            else:
                os.remove(path)
            logging.info("Removed %s, which a killed process left", path)


def _is_written(partial: str) -> bool | None:
    """Returns whether a process is writing a partial file, None if unknown.

    The answer is unknown if the system does not support locks, or the file
    cannot be opened.
    """
    try:
        import fcntl

        number = os.open(partial, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return True if isinstance(error, BlockingIOError) else None
    finally:
        os.close(number)
    return False


@contextlib.contextmanager
def _local_open(path: str) -> Iterator[IO[bytes]]:
    partial = partial_path(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(partial, "wb", buffering=1 << 20) as file:
            # Lock the file, so that `_is_written` returns True in other
            # processes.
            with contextlib.suppress(ImportError, OSError):
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield file
            if not file.closed:
                file.flush()
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(path, partial)
            # Wait until the bytes are on the disk. Otherwise a power cut could
            # leave an incomplete file under the final name. Do not wait for
            # empty files, because waiting is slow and many shards may be empty.
            has_bytes = os.stat(partial).st_size > 0
            if has_bytes:
                sync(partial)
            if os.name == "nt":
                # Windows cannot rename open files.
                file.close()
            os.replace(partial, path)
        if has_bytes:
            sync(os.path.dirname(path))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)


@contextlib.contextmanager
def _remote_open(path: str) -> Iterator[IO[bytes]]:
    from tensorflow.io import gfile

    partial = partial_path(path)
    try:
        with gfile.GFile(partial, "wb") as file:
            yield file
        gfile.rename(partial, path, overwrite=True)
    finally:
        if gfile.exists(partial):
            gfile.remove(partial)
