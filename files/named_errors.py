"""Errors that say which file they are about."""

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Adds a file's name to system errors that come without one.

    Opening a file names it; reading and writing it does not.

    Args:
        path: the file that the block reads or writes.

    Raises:
        OSError: any of the block's, with its number and kind.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(
                error.errno, error.strerror, os.fspath(path)
            ) from error
        raise
