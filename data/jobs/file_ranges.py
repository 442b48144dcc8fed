"""Reads the rows of a range of a file, which can be read on its own."""

import contextlib
import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from data.io import text_files
from data.tables import json_tables, parquet, table_formats
from data.tables.rows import NumberedRow
from data.tables.table_layout import TableLayout

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER_BYTES = 1 << 20

# What a range of a file contains.
RangeKind: TypeAlias = Literal["jsonl", "text", "parquet"]


class FileRange(NamedTuple):
    """A file, or a part of its rows.

    Attributes:
        path: a file of texts, tables or JSON lines.
        kind: "jsonl", "text" or "parquet" for a part of a file, None for a
            whole file.
        start: offset of the first byte, or index of the first group of rows.
        end: offset after the last byte, or index after the last group.
        first_row_number: number of the first line or row in the file.
    """

    path: str
    kind: RangeKind | None = None
    start: int = 0
    end: int = 0
    first_row_number: int = 1


def read_range(
    file_range: FileRange, layout: TableLayout
) -> Iterator[NumberedRow]:
    """Yields the rows of a range as `table_formats.read_rows` does.

    Args:
        file_range: a range of a file, or FileRange(path) for all of it.
        layout: how the file is written.

    Raises:
        OSError, ValueError: as `table_formats.read_rows` raises them.
    """
    if not file_range.kind:
        yield from table_formats.read_rows(file_range.path, layout)
    elif file_range.kind == "parquet":
        groups = range(file_range.start, file_range.end)
        yield from parquet.read_parquet(
            file_range.path, groups, file_range.first_row_number
        )
    else:
        with _open_lines(file_range) as lines:
            numbered = enumerate(lines, file_range.first_row_number)
            if file_range.kind == "text":
                yield from table_formats.read_text_rows(numbered)
            else:
                yield from json_tables.read_json_lines(numbered)


@contextlib.contextmanager
def _open_lines(file_range: FileRange) -> Iterator[IO[str]]:
    """Opens a range of a UTF-8 text, as `text_files.open_text` opens a file."""
    with text_files.open_binary(file_range.path) as file:
        file.seek(file_range.start)
        reader = _LimitedReader(file, file_range.end - file_range.start)
        encoding = "utf-8" if file_range.start else "utf-8-sig"
        yield io.TextIOWrapper(
            io.BufferedReader(reader, _BUFFER_BYTES),
            encoding,
            errors="surrogateescape",
            newline="",
        )


class _LimitedReader(io.RawIOBase):
    """Reads the next bytes of a file, up to a number."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        data = self._file.read(min(len(view), self._size))
        view[: len(data)] = data
        self._size -= len(data)
        return len(data)
