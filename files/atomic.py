"""Writes files that appear whole or not at all.

The bytes go to a partial file next to the real one, which takes its place in
one step when everything is written and on the disk, so a power cut leaves
either file too. Paths with a scheme (`gs://...`) go through `tf.io.gfile`.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from typing import IO, Any

from files import json_files
from files.named_errors import named_errors


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Returns whether a path needs `tf.io.gfile`."""
    return "://" in os.fspath(path)


def partial_path(path: str | os.PathLike[str]) -> str:
    """Returns the partial file to which this process writes `path` at first.

    No other process and no other file uses the name.
    """
    return f"{os.fspath(path)}.partial-{os.getpid()}"


def sync(path: str | os.PathLike[str]) -> None:
    """Waits until a file's bytes, or the names in a folder, are on the disk.

    Only then do they outlast a power cut. Does nothing for remote paths.

    Raises:
        OSError: the disk failed.
    """
    if is_remote(path) or os.name == "nt":
        # Windows cannot open folders.
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        # Some file systems cannot sync folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(number)


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Opens a file to write bytes; it appears whole at the end or not at all.

    A symbolic link is kept and its target replaced. A replaced file passes on
    its permissions. FIFOs and devices cannot be replaced, so they are written
    directly. Missing folders are created.

    Args:
        path: the file to write.

    Yields:
        a binary file object.

    Raises:
        OSError: the file cannot be written; the message names `path`.
    """
    path = os.fspath(path)
    # The error of a full disk does not name the file.
    opened: contextlib.AbstractContextManager[IO[bytes]]
    with named_errors(path):
        if is_remote(path):
            opened = _remote_open(path)
        elif _takes_bytes_directly(path):
            opened = open(path, "wb")
        else:
            # Follow links, so that the link itself is not replaced.
            opened = _local_open(os.path.realpath(path))
        with opened as file:
            yield file


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a UTF-8 text file, whole or not at all; line ends are kept.

    Raises:
        OSError: the file cannot be written.
        ValueError: the text cannot be written as UTF-8.
    """
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{os.fspath(path)}: the text holds {text[error.start]!r}, half of "
            "a surrogate pair, which cannot be written as UTF-8; correct it"
        ) from error
    write_bytes(path, encoded)


def write_bytes(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with atomic_open(path) as file:
        file.write(contents)


def write_json(path: str | os.PathLike[str], contents: Any) -> None:
    """Writes a JSON file, whole or not at all.

    Raises:
        OSError: the file cannot be written.
        TypeError: `contents` hold something that JSON cannot represent.
        ValueError: a number in them is not finite.
    """
    text = json_files.format_json(contents, os.fspath(path), indent=2)
    write_text(path, f"{text}\n")


def copy_file(
    source: str | os.PathLike[str], destination: str | os.PathLike[str]
) -> None:
    """Copies a local file; the copy appears whole or not at all.

    Does nothing if both are the same file.

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


@contextlib.contextmanager
def _local_open(path: str) -> Iterator[IO[bytes]]:
    partial = partial_path(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(partial, "wb", buffering=1 << 20) as file:
            yield file
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(path, partial)
        # Otherwise the new name can reach the disk before the bytes.
        sync(partial)
        os.replace(partial, path)
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


def _takes_bytes_directly(path: str) -> bool:
    """Returns whether `path` is a FIFO, a device or a socket.

    Raises:
        IsADirectoryError: it is a folder.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(
            f"{path} is a folder; give the name of a file to write"
        )
    return not stat.S_ISREG(mode)
