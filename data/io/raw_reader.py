"""Reads any object with a method `read` as a file of Python's io package."""

import io
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class RawReader(io.RawIOBase):
    """Reads a file-like object, all of it or its next bytes up to a limit.

    A BufferedReader of Python needs such an object. Closing it does not close
    the file.

    Args:
        file: the file-like object. The first byte to read is at its position.
        name: name of a compressed file, for the message that it is damaged. ""
            if the file is not compressed.
        limit: maximum number of bytes to read. A file with a limit cannot be
            sought. None for no limit.
    """

    def __init__(
        self, file: IO[bytes], name: str = "", limit: int | None = None
    ) -> None:
        self._file = file
        self._name = name
        self._limit = limit

    def readable(self) -> bool:
        """Returns True."""
        return True

    def seekable(self) -> bool:
        """Returns whether the position can change, which a limit forbids."""
        return self._limit is None and bool(self._file.seekable())

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Reads into a buffer, and returns the number of bytes that were read.

        Raises:
            OSError: the compressed file is damaged.
        """
        view = memoryview(buffer)
        size = len(view)
        if self._limit is not None:
            size = min(size, self._limit)
        try:
            data = self._file.read(size)
        except Exception as error:
            # Each library raises errors of its own, bz2 an OSError.
            if not self._name or getattr(error, "errno", None) is not None:
                raise
            raise OSError(f"{self._name} is damaged") from error
        view[: len(data)] = data
        if self._limit is not None:
            self._limit -= len(data)
        return len(data)

    def seek(self, position: int, whence: int = 0) -> int:
        """Changes the position in the file, and returns the new one."""
        self._file.seek(position, whence)
        return self.tell()

    def tell(self) -> int:
        """Returns the position in the file."""
        return int(self._file.tell())
