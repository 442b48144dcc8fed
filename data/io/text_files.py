"""Reads text files line by line, and finds the files of a data folder.

The files may be compressed or remote. Local files are read without TensorFlow,
because loading TensorFlow needs half a gigabyte of memory and several seconds
in each worker process. `tf.io.gfile` reads paths with a scheme, such as
`gs://`.
"""

import codecs
import contextlib
import gzip
import io
import os
import types
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import IO, Any

from files.paths import StrPath, find_matches, is_remote, named_errors

# {split of a script: name of its set in a data folder}.
SETS = {"train": "train", "eval": "dev", "predict": "test"}
# Path that stands for standard input in the functions of this module.
STDIN = "<stdin>"
_NOT_UTF8 = (
    "the text is not UTF-8. Convert the file, such as with iconv -f {} -t UTF-8"
)


def _gfile() -> types.ModuleType:
    # Only remote files need TensorFlow, which loads slowly.
    from tensorflow.io import gfile

    return gfile


def expand_patterns(patterns: str | None, flag_name: str) -> list[str]:
    """Lists the files that match comma-separated patterns of a flag.

    The files are in the order of the patterns. The matches of each pattern are
    sorted. Raises a FileNotFoundError if a pattern matches no file.
    """
    files = []
    for pattern in filter(None, map(str.strip, (patterns or "").split(","))):
        if is_remote(pattern):
            matches = sorted(_gfile().glob(pattern))
        else:
            matches = [*filter(os.path.isfile, find_matches(pattern))]
        if not matches:
            raise FileNotFoundError(f"--{flag_name}: no file is {pattern!r}")
        files.extend(matches)
    if not files:
        raise FileNotFoundError(f"--{flag_name}={patterns} names no file")
    return files


@contextlib.contextmanager
def open_binary(path: StrPath) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Opens a file, or STDIN, to read bytes. Unpacks it if its name is `*.gz`.

    Raises:
        OSError: the file cannot be read, or a `.gz` is damaged.
    """
    with named_errors(path), _open_raw(path) as file:
        is_packed = os.fspath(path).endswith(".gz")
        try:
            yield gzip.GzipFile(fileobj=file) if is_packed else file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise OSError(f"{path}: the gzip file is damaged") from error


def _open_raw(path: StrPath) -> IO[bytes]:
    # Opens a file, or STDIN, to read its bytes as they are.
    if path == STDIN:
        # Do not use sys.stdin, which cannot be closed while a thread waits for
        # input.
        return open(0, "rb", closefd=False)
    if is_remote(path):
        return _gfile().GFile(path, "rb")
    return open(path, "rb")


def size(path: StrPath) -> int:
    """Returns the number of bytes of a file."""
    if is_remote(path):
        return _gfile().stat(path).length
    return os.path.getsize(path)


def is_file(path: StrPath) -> bool:
    """Returns whether a local or remote file exists."""
    if is_remote(path):
        return _gfile().exists(path)
    return os.path.isfile(path)


def read_lines(
    path: StrPath,
    dropped: Counter[Any] | None = None,
    start: int = 0,
    end: int | None = None,
) -> Iterator[str]:
    """Yields the lines of a corpus, without their line ends.

    As in Google's code, only a line feed ends a line, and bytes that are not
    UTF-8 are dropped.

    Args:
        path: path of a text file. The function decompresses the file if its
            name ends in `.gz`.
        dropped: Counter. The function adds the number of dropped bytes to
            `dropped[path]`.
        start: offset of the first byte to read, which must begin a line.
        end: offset of the byte at which to stop. Lines that begin before this
            byte are read to their end. None = read to the end of the file.

    Raises:
        OSError: the file cannot be read, or a `.gz` is damaged.
        ValueError: the file is UTF-16, is compressed but its name does not end
            in `.gz`, or its lines end in carriage returns.
    """
    with open_binary(path) as file:
        if start:
            file.seek(start)
        position = start
        for line in file:
            if end is not None and position >= end:
                return
            if position == 0:
                check_first_line(line, path)
            position += len(line)
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = line.decode("utf-8", "ignore")
                if dropped is not None:
                    dropped[path] += len(line) - len(text.encode("utf-8"))
            yield text.rstrip("\n")


def split_lines(path: StrPath) -> Iterator[tuple[int, str]]:
    """Yields (number, line with its end) of a file, numbered from 1.

    LF, CR LF or CR ends a line. A byte order mark is skipped. Bytes that are
    not UTF-8 become lone surrogates, which `check_utf8` finds.

    Raises:
        OSError, ValueError: as in `read_lines`.
    """
    number = 0
    with open_binary(path) as file:
        for data in file:
            if not number:
                _check_encoding(data, path)
                data = data.removeprefix(codecs.BOM_UTF8)
            text = data.decode("utf-8", "surrogateescape")
            has_return = "\r" in text
            for line in io.StringIO(text, newline="") if has_return else [text]:
                number += 1
                yield number, line


def check_utf8(line: str) -> str:
    """Returns a line of `split_lines`. Raises a ValueError if not UTF-8."""
    try:
        line.encode()
    except UnicodeEncodeError:
        raise ValueError(_NOT_UTF8.format("LATIN1")) from None
    return line


def read_numbered(path: StrPath) -> Iterator[tuple[int, str]]:
    """Yields (number, line without its end) of a file, numbered from 1.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is not UTF-8. The message names the line.
    """
    for number, line in split_lines(path):
        try:
            yield number, check_utf8(line).rstrip("\r\n")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None


def check_first_line(line: bytes, path: StrPath) -> None:
    """Raises a ValueError if a file is not UTF-8 whose lines end in LF."""
    _check_encoding(line, path)
    if b"\n" not in line and b"\r" in line.rstrip(b"\r"):
        raise ValueError(
            f"{path}: the lines end in carriage returns. Save the file with LF "
            "or CR LF as line ends"
        )


def _check_encoding(line: bytes, path: StrPath) -> None:
    if line.startswith(b"\x1f\x8b"):
        raise ValueError(f"{path}: gzip files must have a name in .gz")
    if line.startswith(b"PK\x03\x04"):
        raise ValueError(
            f"{path} is a zip archive or an Excel workbook. Save it as CSV"
        )
    # In UTF-16, every second byte of English text is zero. In other scripts, at
    # least the spaces and line ends contain a zero byte.
    is_wide = line.count(0) > max(len(line) // 3, 4)
    is_wide |= 0 in line and "\ufffd" in line.decode("utf-8", "replace")
    if is_wide or line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{path}, line 1: {_NOT_UTF8.format('UTF-16')}")


def find_set_file(
    data_dir: StrPath | None, name: str, file_names: Sequence[str]
) -> str:
    """Returns the path of the set `name` in a data folder.

    The file has one of the `file_names`, with or without an additional `.gz`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there are several, or --data_dir is not set.
    """
    if data_dir is None:
        raise ValueError("--data_dir is not set. Set --data_dir or --labels")
    names = [*file_names, *(f"{file_name}.gz" for file_name in file_names)]
    paths = [os.path.join(data_dir, file_name) for file_name in names]
    existing = [*filter(os.path.isfile, paths)]
    if not existing:
        raise FileNotFoundError(
            f"there is no {name} set in {data_dir}: it must be named "
            f"{' or '.join(file_names)}"
        )
    if len(existing) > 1:
        raise ValueError(f"keep only one of the files {' and '.join(existing)}")
    return existing[0]
