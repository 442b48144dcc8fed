"""Reads text files line by line, and lists the files that a pattern names.

The files may be compressed or remote. Local files are read without TensorFlow,
because loading TensorFlow needs half a gigabyte of memory and several seconds
in each worker process. `tf.io.gfile` reads paths with a scheme, such as
`gs://`.
"""

import contextlib
import io
import os
import types
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from data.io import compressed_files, encodings
from files.paths import StrPath, explain_file_errors, is_remote, list_matches

# Path that stands for standard input in the functions of this module.
STDIN = "<stdin>"


def expand_patterns(patterns: str | None, flag_name: str) -> list[str]:
    """Lists the files that match comma-separated patterns of a flag.

    The files are in the order of the patterns. The matches of each pattern are
    sorted.

    Raises:
        FileNotFoundError: a pattern matches no file.
    """
    files = []
    for pattern in filter(None, map(str.strip, (patterns or "").split(","))):
        if is_remote(pattern):
            matches = sorted(_import_gfile().glob(pattern))
        else:
            matches = [*filter(os.path.isfile, list_matches(pattern))]
        if not matches:
            raise FileNotFoundError(f"--{flag_name}: no file is {pattern!r}")
        files.extend(matches)
    if not files:
        raise FileNotFoundError(f"--{flag_name}={patterns} names no file")
    return files


@contextlib.contextmanager
def open_binary(path: StrPath) -> Iterator[io.BufferedReader]:
    """Opens a file, or STDIN, to read its bytes, decompressed if need be.

    The file's first bytes, not its name, show whether it is compressed: with
    gzip, bzip2, xz or zstd.

    Raises:
        OSError: the file cannot be read, or a compressed file is damaged.
        ValueError: zstd needs a package that is not installed.
    """
    with explain_file_errors(path), open_raw(path) as file:
        yield compressed_files.decompress_file(file, path)


def open_raw(path: StrPath) -> IO[bytes]:
    """Opens a file, or STDIN, to read its bytes as they are."""
    if path == STDIN:
        # Do not use sys.stdin, which cannot be closed while a thread waits for
        # input.
        return open(0, "rb", closefd=False)
    if is_remote(path):
        file: IO[bytes] = _import_gfile().GFile(path, "rb")
        return file
    return open(path, "rb")


def is_compressed(path: StrPath) -> bool:
    """Returns whether the bytes of a file are decompressed to read it."""
    with explain_file_errors(path), open_raw(path) as file:
        return (
            compressed_files.guess_compression(
                compressed_files.buffer_file(file)
            )
            is not None
        )


@contextlib.contextmanager
def open_text(
    path: StrPath, encoding: str | None = None
) -> Iterator[io.TextIOWrapper]:
    """Opens a file, or STDIN, to read the lines of a text with their ends.

    LF, CR LF or CR ends a line. A mark of UTF-8 or UTF-16 is skipped. Bytes
    that are not in the encoding become lone surrogates, which
    `encodings.check_encoding` finds.

    Args:
        path: a file of text, which may be compressed.
        encoding: the encoding, unless the file begins with a mark. None =
            UTF-8.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is an archive, is UTF-16 without a mark, or there
            is no such encoding.
    """
    with open_binary(path) as file:
        first_bytes = file.peek()
        compressed_files.check_is_text(first_bytes, path)
        name = encodings.find_bom_encoding(first_bytes) or encoding
        if not name:
            encodings.check_is_not_utf16(first_bytes, path)
        try:
            text = io.TextIOWrapper(
                file, name or "utf-8", errors="surrogateescape", newline=""
            )
        except LookupError:
            raise ValueError(
                f"--encoding={encoding} is no encoding that Python knows, such "
                "as cp1252"
            ) from None
        try:
            yield text
        except UnicodeDecodeError:
            raise ValueError(f"{path}: the text is not {name}") from None


def file_size(path: StrPath) -> int:
    """Returns the bytes of a local or remote file, which may be compressed."""
    if is_remote(path):
        length: int = _import_gfile().stat(path).length
        return length
    return os.path.getsize(path)


def is_file(path: StrPath) -> bool:
    """Returns whether there is a local or remote file, and not a folder."""
    if is_remote(path):
        gfile = _import_gfile()
        exists: bool = gfile.exists(path) and not gfile.isdir(path)
        return exists
    return os.path.isfile(path)


def _import_gfile() -> types.ModuleType:
    """Imports tf.io.gfile."""
    # Only remote files need TensorFlow, which loads slowly.
    from tensorflow.io import gfile

    module: types.ModuleType = gfile
    return module


def read_corpus_lines(path: StrPath) -> Iterator[str]:
    """Yields the lines of a corpus, as `read_lossy_lines` does."""
    for line in read_lossy_lines(path):
        yield line.text


class LossyLine(NamedTuple):
    """A line of a corpus.

    Attributes:
        text: the line without its end.
        num_dropped: number of its bytes that are not UTF-8, and were dropped.
    """

    text: str
    num_dropped: int


def read_lossy_lines(
    path: StrPath, start: int = 0, end: int | None = None
) -> Iterator[LossyLine]:
    """Yields the lines of a corpus.

    As in Google's code, only a line feed ends a line, and bytes that are not
    UTF-8 are dropped.

    Args:
        path: path of a text file, compressed or not.
        start: offset of the first byte to read, which must begin a line.
        end: offset of the byte at which to stop. Lines that begin before this
            byte are read to their end. If None, the file is read to its end.

    Raises:
        OSError: the file cannot be read, or a compressed file is damaged.
        ValueError: the file is UTF-16 or an archive, or its lines end in
            carriage returns.
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
            yield _decode_line(line)


def _decode_line(line: bytes) -> LossyLine:
    num_dropped = 0
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("utf-8", "ignore")
        num_dropped = len(line) - len(text.encode("utf-8"))
    return LossyLine(text.rstrip("\n"), num_dropped)


class NumberedLine(NamedTuple):
    """A line of a text.

    Attributes:
        number: number of the line in its file. The first line is 1.
        text: the line.
    """

    number: int
    text: str


def number_lines(
    lines: Iterable[str], first_number: int = 1
) -> Iterator[NumberedLine]:
    """Yields the lines of a text with their numbers."""
    for number, text in enumerate(lines, first_number):
        yield NumberedLine(number, text)


def read_numbered_lines(
    path: StrPath, encoding: str | None = None
) -> Iterator[NumberedLine]:
    """Yields the lines of a file, without their ends.

    Raises:
        ValueError: a line is not in the encoding. The message names the line.
    """
    with open_text(path, encoding) as lines:
        for number, text in number_lines(lines):
            try:
                encodings.check_encoding(text, encoding)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            yield NumberedLine(number, text.rstrip("\r\n"))


def check_first_line(line: bytes, path: StrPath) -> None:
    """Checks that a file is UTF-8, and that its lines end in LF.

    Raises:
        ValueError: the file has another encoding, or other line ends.
    """
    compressed_files.check_is_text(line, path)
    marked = encodings.find_bom_encoding(line)
    if marked not in (None, "utf-8-sig"):
        raise ValueError(
            f"{path}, line 1: the text is not UTF-8. Convert the file, such as "
            f"with iconv -f {marked.upper()} -t UTF-8"
        )
    encodings.check_is_not_utf16(line, path)
    if b"\n" not in line and b"\r" in line.rstrip(b"\r"):
        raise ValueError(
            f"{path}: the lines end in carriage returns. Save the file with LF "
            "or CR LF as line ends"
        )
