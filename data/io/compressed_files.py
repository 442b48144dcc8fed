"""Decompresses files by their first bytes, whatever their names are.

A file of a library for compression becomes one of Python's io package by a
`RawReader`.
"""

import bz2
import gzip
import io
import lzma
import re
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, Protocol

from dependencies.installation import install_command
from files.paths import StrPath

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Endings of the names of compressed files, which follow the ending of a format.
_COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
_NUM_FIRST_BYTES = 512
# {compression: first bytes of the file}.
_FIRST_BYTES_OF_COMPRESSION = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\0"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
# First bytes of .xls, and of .xlsx with a password.
OLD_WORKBOOK = rb"\xd0\xcf\x11\xe0"
# {first bytes: what cannot be read}.
_ADVICE_OF_FIRST_BYTES = {
    rb"PK\x03\x04": "a zip archive or an Excel workbook. Unpack the archive. "
    "Save the sheet as CSV UTF-8, or under a name in .xlsx",
    OLD_WORKBOOK: "an old or encrypted Excel workbook. Save it as .xlsx "
    "without a password, or as CSV",
    rb"7z\xbc\xaf\x27\x1c": "a 7z archive. Unpack it",
    rb"Rar!\x1a\x07": "a RAR archive. Unpack it",
    rb"(?s:.{257})ustar": "a tar archive. Unpack it",
    rb"PAR1": "a Parquet file. Save it as CSV, or under a name in .parquet",
    rb"version https://git-lfs\.github": "a pointer of Git LFS. Fetch the file "
    "with git lfs pull",
    rb"%PDF-": "a PDF file. Save its text",
}


def uncompressed_name(path: StrPath) -> str:
    """Returns the name of a file in lower case, without .gz, .bz2 and so on.

    Examples:
        >>> uncompressed_name("Tickets.CSV.gz")
        'tickets.csv'
    """
    name = str(path).lower()
    compression = next(filter(name.endswith, _COMPRESSED_ENDINGS), "")
    return name.removesuffix(compression)


def guess_compression(file: io.BufferedReader) -> str | None:
    """Returns how a file is compressed, None if it is not.

    The position in the file stays the same.
    """
    first_bytes = file.peek(_NUM_FIRST_BYTES)[:_NUM_FIRST_BYTES]
    return next(
        (
            compression
            for compression in _FIRST_BYTES_OF_COMPRESSION
            if _FIRST_BYTES_OF_COMPRESSION[compression].match(first_bytes)
        ),
        None,
    )


def check_is_text(first_bytes: bytes, path: StrPath) -> None:
    """Checks the first bytes of a file that should be text.

    Raises:
        ValueError: the bytes show that the file is no text.
    """
    for pattern, name in _ADVICE_OF_FIRST_BYTES.items():
        if re.match(pattern, first_bytes):
            raise ValueError(f"{path} is {name}")


def buffer_file(file: IO[bytes]) -> io.BufferedReader:
    """Returns a file whose first bytes `guess_compression` can see."""
    if isinstance(file, io.BufferedReader):
        return file
    # A remote file.
    return io.BufferedReader(RawReader(file))


def decompress_file(file: IO[bytes], path: StrPath) -> io.BufferedReader:
    """Returns a file that reads the decompressed bytes of `file`.

    Raises:
        ValueError: decompressing needs a package that is not installed.
    """
    file = buffer_file(file)
    compression = guess_compression(file)
    if not compression:
        return file
    # Any, because the file types of the packages have no common class.
    decompressed: Any
    if compression == "gzip":
        decompressed = gzip.GzipFile(fileobj=file)
    elif compression == "bzip2":
        decompressed = bz2.BZ2File(file)
    elif compression == "xz":
        decompressed = lzma.LZMAFile(file)  # noqa: SIM115  its file is closed
    else:
        decompressed = _ZstdFile(file, _zstd_decoder(path))
    name = f"{path}: the {compression} file"
    return io.BufferedReader(RawReader(decompressed, name), 1 << 16)


def _zstd_decoder(path: StrPath) -> Callable[[], "_ZstdDecoder"]:
    try:
        # An optional package.
        import zstandard
    except ImportError:
        raise ValueError(
            f"{path} needs zstandard: {install_command('zstandard')}"
        ) from None
    return zstandard.ZstdDecompressor().decompressobj


class _ZstdDecoder(Protocol):
    """Decompresses one frame of zstd, as a decoder of `zstandard` does."""

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the frame."""

    def decompress(self, data: bytes) -> bytes:
        """Decompresses the next bytes of the frame."""


class _ZstdFile:
    """Reads zstd. The library's own reader accepts a file that is cut off."""

    def __init__(
        self,
        file: io.BufferedReader,
        create_decoder: Callable[[], _ZstdDecoder],
    ) -> None:
        self._file = file
        self._create_decoder = create_decoder
        self._decoder: _ZstdDecoder | None = None
        self._compressed = b""
        self._decompressed = io.BytesIO()

    def seekable(self) -> bool:
        return False

    def read(self, size: int) -> bytes:
        while not (decompressed := self._decompressed.read(size)):
            data = self._compressed or self._file.read1(1 << 16)
            self._compressed = b""
            if not data and self._decoder:
                raise EOFError
            if not data:
                break
            decoder = self._decoder or self._create_decoder()
            self._decoder = decoder
            self._decompressed = io.BytesIO(decoder.decompress(data))
            if decoder.eof:
                self._compressed = decoder.unused_data
                self._decoder = None
        return decompressed


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
