"""Cuts the files of a large input into ranges, and reads each on its own.

Plain text and JSON lines are cut after the end of a line, and Parquet between
groups of rows. All other files are not cut: CSV cannot be, because a quoted
cell may contain the end of a line, and compressed files are read from their
beginning.
"""

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import IO, Literal, NamedTuple, TypeAlias

from data.io import encodings, text_files
from data.io.compressed_files import RawReader
from data.tables import json_tables, parquet, tables
from data.tables.rows import NumberedRow
from data.tables.table_layout import TableLayout, format_of

# Default size of the part of the input that one unit of a job reads.
_PART_BYTES = 4 << 20
# An input of less than _MIN_PARTS * _PART_BYTES is cut into _MIN_PARTS parts,
# so that several processes can work on it, but not into smaller parts than
# _MIN_PART_BYTES.
_MIN_PARTS = 8
_MIN_PART_BYTES = 256 << 10
# The parts of a very large input are larger, because a folder should not
# contain more files.
_MAX_PARTS = 10_000
# Bytes to read at once.
_CHUNK_BYTES = 1 << 20

# What a range of a file contains.
RangeFormat: TypeAlias = Literal["jsonl", "text", "parquet"]


class FileRange(NamedTuple):
    """A file, or a part of its rows.

    Attributes:
        path: a file of texts, tables or JSON lines.
        format: "jsonl", "text" or "parquet" for a part of a file, None for a
            whole file.
        start: offset of the first byte, or index of the first group of rows.
        end: offset after the last byte, or index after the last group.
        first_row_number: number of the first line or row in the file.
    """

    path: str
    format: RangeFormat | None = None
    start: int = 0
    end: int = 0
    first_row_number: int = 1


def split_files(
    paths: Sequence[str], layout: TableLayout, num_parts: int = 0
) -> list[list[FileRange]]:
    """Cuts files into parts of about the same size, in order.

    The result depends only on the files and on `num_parts`. For example, a
    text with lines of 60, 30 and 10 bytes is cut into three parts even if
    `num_parts` is 4, because no line is cut.

    Args:
        paths: paths of the files.
        layout: how the files are written.
        num_parts: maximum number of parts. For 0, the size of the input
            determines the number.

    Returns:
        list of at least one part. A part is a list of ranges, [] if the input
        is empty.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is an archive, or a package is missing.
    """
    sizes = [text_files.file_size(path) for path in paths]
    total = sum(sizes)
    grid = _Grid(total, num_parts or _count_parts(total))
    parts: list[list[FileRange]] = []
    part: list[FileRange] = []
    for path, size in zip(paths, sizes, strict=True):
        start = 0
        for file_range, end in _cut_file(path, layout, size, grid):
            part.append(file_range)
            if grid.part_index_of(end) > grid.part_index_of(start):
                parts.append(part)
                part = []
            start = end
        grid = grid._replace(before=grid.before + size)
    return parts or [[]]


class _Grid(NamedTuple):
    """The parts of `total` bytes.

    Examples:
        10 bytes in 3 parts are 0 to 3, 4 to 6, and 7 to 9:

        >>> grid = _Grid(total=10, num_parts=3)
        >>> [grid.part_index_of(position) for position in range(10)]
        [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
        >>> grid.end_of_part(5)
        7

    Attributes:
        total: number of bytes of all files.
        num_parts: number of parts.
        before: number of bytes of the files before the current one.
    """

    total: int
    num_parts: int
    before: int = 0

    def part_index_of(self, position: int) -> int:
        """Returns the index of the part that contains a byte of the file."""
        return (self.before + position) * self.num_parts // self.total

    def end_of_part(self, position: int) -> int:
        """Returns the offset in the file at which the part of a byte ends."""
        next_part_index = self.part_index_of(position) + 1
        # Round up: the byte at the border is in the next part.
        end = _divide_up(self.total * next_part_index, self.num_parts)
        return end - self.before


def _divide_up(number: int, divisor: int) -> int:
    """Returns a quotient, rounded up. Unlike math.ceil, it is always exact."""
    return -(-number // divisor)


def _count_parts(total: int) -> int:
    num_small = min(total // _MIN_PART_BYTES, _MIN_PARTS)
    return min(max(total // _PART_BYTES, num_small, 1), _MAX_PARTS)


class _CutRange(NamedTuple):
    """A range, and where the next range of the file begins.

    Attributes:
        file_range: the range.
        end: offset in the file after the last byte of the range.
    """

    file_range: FileRange
    end: int


def _cut_file(
    path: str, layout: TableLayout, size: int, grid: _Grid
) -> Iterator[_CutRange]:
    """Yields the ranges of a file, in order.

    A range ends near the border that follows the offset of its start.
    """
    range_format = None
    if size and grid.end_of_part(0) < size:
        range_format = guess_range_format(path, layout)
    if range_format == "parquet":
        yield from _cut_parquet(path, size, grid)
    elif range_format:
        yield from _cut_lines(path, range_format, size, grid)
    elif size:
        yield _CutRange(FileRange(path), size)


def guess_range_format(path: str, layout: TableLayout) -> RangeFormat | None:
    """Returns the format of the ranges of a file, None if it cannot be cut.

    If no name shows the format, the first lines do.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is an archive, or a package is missing.
    """
    file_format = layout.format or format_of(path)
    if file_format == "parquet":
        return "parquet"
    if file_format not in ("jsonl", "text", None) or layout.encoding:
        return None
    if text_files.is_compressed(path):
        return None
    with text_files.open_binary(path) as file:
        mark = encodings.find_bom_encoding(file.peek())
    if mark not in (None, "utf-8-sig"):
        return None
    with text_files.open_text(path) as lines:
        if file_format == "text":
            return "text"
        guessed = json_tables.guess_text_format(
            text_files.number_lines(lines),
            layout.columns,
            is_json=file_format is not None,
        )
    return guessed.text_format if guessed.text_format != "list" else None


def _cut_lines(
    path: str, range_format: RangeFormat, size: int, grid: _Grid
) -> Iterator[_CutRange]:
    start = 0
    first_row_number = 1
    with text_files.open_binary(path) as file:
        while start < size:
            end = _find_line_end(file, grid.end_of_part(start), size)
            file_range = FileRange(
                path, range_format, start, end, first_row_number
            )
            yield _CutRange(file_range, end)
            if end < size:
                first_row_number += _count_lines(file, start, end)
            start = end


def _find_line_end(file: IO[bytes], position: int, size: int) -> int:
    """Returns the offset after the line feed at or after a position."""
    if position >= size:
        return size
    file.seek(position)
    while chunk := file.readline(_CHUNK_BYTES):
        position += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return position


def _count_lines(file: IO[bytes], start: int, end: int) -> int:
    """Returns the number of lines between two offsets.

    LF, CR LF or CR ends a line.
    """
    file.seek(start)
    num_lines = 0
    while start < end and (chunk := file.read(min(_CHUNK_BYTES, end - start))):
        start += len(chunk)
        while chunk.endswith(b"\r") and start < end:
            chunk += file.read(1)
            start += 1
        pairs = chunk.count(b"\r\n")
        num_lines += chunk.count(b"\n") + chunk.count(b"\r") - pairs
    return num_lines


def _cut_parquet(path: str, size: int, grid: _Grid) -> Iterator[_CutRange]:
    """Yields ranges of groups of rows.

    Nothing shows the bytes of a group, so their offsets are estimates.
    """
    group_sizes = _read_group_sizes(path)
    # Assume that all rows have the same number of bytes.
    num_all_rows = max(sum(group_sizes), 1)
    first_group = 0
    first_row = 1
    start = 0
    num_rows_read = 0
    for end_group, num_rows in enumerate(group_sizes, start=1):
        num_rows_read += num_rows
        end = size
        if end_group < len(group_sizes):
            end = _divide_up(num_rows_read * size, num_all_rows)
        if end >= min(grid.end_of_part(start), size):
            groups = FileRange(
                path, "parquet", first_group, end_group, first_row
            )
            yield _CutRange(groups, end)
            first_group = end_group
            first_row = num_rows_read + 1
            start = end


def _read_group_sizes(path: str) -> list[int]:
    """Returns the number of rows in each group of a Parquet file."""
    with parquet.open_parquet(path) as table:
        metadata = table.metadata
        return [
            metadata.row_group(index).num_rows
            for index in range(metadata.num_row_groups)
        ]


def read_range(
    file_range: FileRange, layout: TableLayout
) -> Iterator[NumberedRow]:
    """Yields the rows of a range as `tables.read_rows` does.

    Args:
        file_range: a range of a file, or FileRange(path) for all of it.
        layout: how the file is written.
    """
    if not file_range.format:
        yield from tables.read_rows(file_range.path, layout)
    elif file_range.format == "parquet":
        groups = range(file_range.start, file_range.end)
        yield from parquet.read_parquet(
            file_range.path, groups, file_range.first_row_number
        )
    else:
        with _open_lines(file_range) as lines:
            numbered = text_files.number_lines(
                lines, file_range.first_row_number
            )
            if file_range.format == "text":
                yield from tables.read_text_rows(numbered)
            else:
                yield from json_tables.read_json_lines(numbered)


@contextlib.contextmanager
def _open_lines(file_range: FileRange) -> Iterator[IO[str]]:
    """Opens a range of a UTF-8 text, as `text_files.open_text` opens a file."""
    with text_files.open_binary(file_range.path) as file:
        file.seek(file_range.start)
        reader = RawReader(file, limit=file_range.end - file_range.start)
        encoding = "utf-8" if file_range.start else "utf-8-sig"
        yield io.TextIOWrapper(
            io.BufferedReader(reader, _CHUNK_BYTES),
            encoding,
            errors="surrogateescape",
            newline="",
        )
