"""Adds file names to errors."""

import contextlib
import os
from collections.abc import Iterator

from files.paths import StrPath


@contextlib.contextmanager
def named_errors(path: StrPath) -> Iterator[None]:
    """Adds a file's name to system errors that lack one.

    Errors of opening name the file; those of reading and writing do not.

    Raises:
        OSError: the block's error, with its number and kind.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(
                error.errno, error.strerror, os.fspath(path)
            ) from error
        raise
