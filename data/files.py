"""Text files: bad bytes dropped and counted; outputs whole or not at all."""

import codecs
import contextlib
import os
from pathlib import Path

from absl import logging


def read_lines(path):
    r"""Yields each line of a UTF-8 file with its number.

    Lines end at "\n" alone, as the original reads them. A byte-order mark is
    dropped, and so are bytes that are not UTF-8, with one warning that counts
    the lines that had them.

    Args:
        path: the file.

    Yields:
        (number, text): the number from 1, the text without its line end.

    Raises:
        OSError: the file cannot be read.
    """
    num_invalid = 0
    with open(path, "rb") as reader:
        for number, line in enumerate(reader, 1):
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            try:
                text = line.decode()
            except UnicodeDecodeError:
                num_invalid += 1
                text = line.decode(errors="ignore")
            yield number, text.rstrip("\r\n")
    if num_invalid:
        logging.warning(
            "%s: %d lines held bytes that are not UTF-8; those bytes were "
            "dropped. Convert the file to UTF-8 if that is not wanted.",
            path,
            num_invalid,
        )


@contextlib.contextmanager
def open_atomically(path):
    """Opens a text file that appears at `path` only once it is whole.

    It is written beside `path` and renamed when the block ends; after an
    error inside the block nothing is left behind, and what stood at `path`
    before stays.

    Args:
        path: the file to make; its folder must exist.

    Yields:
        the file, open for writing UTF-8.

    Raises:
        OSError: the file cannot be written.
    """
    path = Path(path)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "w", encoding="utf-8", newline="\n") as writer:
            yield writer
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
