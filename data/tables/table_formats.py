"""Reads tables in their formats, from CSV, JSON and Excel to plain text."""

import contextlib
import csv
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

from command_line.installation import install_command
from data.io import encodings, packed_files, text_files
from data.tables import dialects, headers, json_tables, table_checks, workbooks
from files.json_files import JsonObject
from files.paths import StrPath

if TYPE_CHECKING:
    import pyarrow.parquet

# {ending of a file's name: format of the table}.
ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".txt": "text",
}
FORMATS = tuple(dict.fromkeys(ENDINGS.values()))

# A row: (number of its first line, {column: cell}). If the row is malformed, a
# ValueError replaces the dict.
Row = tuple[int, JsonObject | ValueError]


class Repeated(str):
    """Key of a column whose name an earlier column of the table has too.

    The key is the name and a number, such as "Labels.1", so that a row keeps
    the cells of both columns.

    Attributes:
        name: the name in the file.
    """

    name: str

    def __new__(cls, name: str, taken: Collection[str]) -> "Repeated":
        """Creates the first key `name.1`, `name.2` that is not in `taken`."""
        keys = (f"{name}.{number}" for number in itertools.count(1))
        key = super().__new__(cls, next(x for x in keys if x not in taken))
        key.name = name
        return key


class ColumnNumber(str):
    """Key of a column of a table without a header: "1", "2" and so on."""


class Layout(NamedTuple):
    """The format, the marks and the header of a table.

    Attributes:
        format: one of FORMATS. None = the ending of the file's name decides.
            For other endings, the first line decides: JSON if it begins with
            `{` or a list of objects, else plain text.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets write
            them. If False, `"` is an ordinary character. None = the first
            records tell.
        delimiter: character between cells of CSV and TSV, one of
            `dialects.DELIMITERS`. None = the first records tell.
        has_header: whether the first line of CSV, TSV and Excel names the
            columns. If False, their names are "1", "2" and so on. None = the
            first records tell.
        encoding: encoding of a text, for Python. A mark in the file overrides
            it. None = UTF-8.
        sheet: name of the sheet of a workbook. None = the first one.
        columns: names of columns that the user chose, which tell a header.
    """

    format: str | None = None
    quoting: bool | None = None
    delimiter: str | None = None
    has_header: bool | None = True
    encoding: str | None = None
    sheet: str | None = None
    columns: tuple[str, ...] = ()


DEFAULT = Layout()

# So many rows tell the width of a table without a header if the user told all.
_FIRST_ROWS = 3


def format_of(path: StrPath) -> str | None:
    """Returns the format of the ending of a file's name, or None.

    Upper case does not matter. An ending such as .gz is skipped.
    """
    name = packed_files.name_without_packing(path)
    return next((ENDINGS[end] for end in ENDINGS if name.endswith(end)), None)


def read_rows(path: StrPath, layout: Layout = DEFAULT) -> Iterator[Row]:
    """Yields each row of a table, or an error for a malformed row.

    Args:
        path: path of a file, or text_files.STDIN.
        layout: how the table is written.

    Yields:
        (number of the row's first line, row). In a JSON list, Parquet and
        Excel, it is the number of the entry or row. `row` is {column: cell}, or
        a ValueError if the row is malformed. The only column of plain text is
        `text`. Blank lines are rows only there. If a name of CSV, TSV or Excel
        is repeated, the key of the later column is a `Repeated`. NaN becomes
        None, an empty cell.

    Raises:
        OSError: the file cannot be read.
        ValueError: an unclosed quote spans several lines, nothing tells the
            delimiter or the header, or a package is missing.
    """
    file_format = layout.format or format_of(path)
    if file_format == "parquet":
        yield from read_parquet(path)
    elif file_format == "xlsx":
        yield from _read_workbook(path, layout)
    else:
        with text_files.open_text(path, layout.encoding) as lines:
            if file_format in ("csv", "tsv"):
                yield from _read_separated(path, lines, layout, file_format)
            elif file_format == "text":
                yield from read_text(enumerate(lines, 1), layout.encoding)
            else:
                yield from _read_json(path, lines, file_format, layout)


def read_text(
    lines: Iterable[tuple[int, str]], encoding: str | None = None
) -> Iterator[Row]:
    """Yields a row for each numbered line of a plain text."""
    for number, line in lines:
        try:
            text = encodings.check(line, encoding).rstrip("\r\n")
        except ValueError as error:
            yield number, error
        else:
            yield number, {"text": text}


def _read_json(
    path: StrPath, lines: IO[str], file_format: str | None, layout: Layout
) -> Iterator[Row]:
    numbered = enumerate(lines, 1)
    first, kind = json_tables.find_kind(numbered, file_format, layout.columns)
    every = itertools.chain(first, numbered)
    if kind == "text":
        yield from read_text(every, layout.encoding)
    elif kind == "jsonl":
        yield from json_tables.read_lines(every, layout.encoding)
    else:
        text = "".join(line for _, line in every)
        text = encodings.check(text, layout.encoding)
        yield from json_tables.read_list(path, text, layout.columns)


class _Header:
    """The names of the columns, and the rows below them.

    Before `set`, it `is_open`, unless the table has no header. Then `width` is
    the number of cells of a row, 0 = rows differ, None = the first rows tell.
    If they `may_be_wider`, some rows have further cells, as in STS benchmarks.
    """

    def __init__(
        self,
        has_header: bool,
        width: int | None = None,
        may_be_wider: bool = False,
    ) -> None:
        self.is_open = has_header
        self._width = width
        self._may_be_wider = may_be_wider
        self._widths: list[int] = []
        self._most = 0
        self._names: list[str] = []
        self._keys: list[str] = []

    def set(self, names: list[str]) -> None:
        # The file was saved twice with UTF-8's mark.
        names[0] = names[0].removeprefix("\ufeff")
        self._names = names
        self._keys = _unique(names)
        self.is_open = False

    def row(
        self, cells: list[str], is_swallowed: bool = False
    ) -> JsonObject | ValueError:
        names = self._names
        if not names:
            return self._row_without_names(cells)
        problem = None
        if len(cells) != len(names):
            problem = (
                f"the line has {len(cells)} columns, but the first line has "
                f"{len(names)}"
            )
        elif cells[0].endswith(names[0]) and headers.repeats(cells, names):
            problem = "the line repeats the names of the columns. Remove it"
        elif is_swallowed:
            problem = (
                "a quoted cell contains the next lines of the table. If quotes "
                "are ordinary characters here, set --noquoting. Otherwise "
                "replace the tabs in the cell by spaces"
            )
        if problem:
            return ValueError(f"{problem}. Received: {cells}"[:300])
        return dict(zip(self._keys, cells, strict=True))

    def _row_without_names(self, cells: list[str]) -> JsonObject | ValueError:
        problem = None
        if len(cells) != self._width:
            problem = self._problem_of_width(cells)
        if problem:
            return ValueError(f"{problem}. Received: {cells}"[:300])
        if len(cells) != len(self._keys):
            self._keys = [*map(ColumnNumber, range(1, len(cells) + 1))]
        return dict(zip(self._keys, cells, strict=True))

    def _problem_of_width(self, cells: Sequence[str]) -> str | None:
        """Returns what is wrong with a row that has not the usual width."""
        width = len(cells)
        self._most = max(self._most, width, self._width or 0)
        # MySQL writes a backslash before a line break in a cell.
        if width < self._most and cells[-1].endswith("\\"):
            return (
                f"the line ends in a backslash and has {width} columns, but "
                f"other lines have {self._most}. Replace the line breaks in "
                "cells by blanks"
            )
        if self._width is None:
            self._learn_width(width)
        usual = self._width or width
        if width == usual or (width > usual and self._may_be_wider):
            return None
        return f"the line has {width} columns, but other lines have {usual}"

    def _learn_width(self, width: int) -> None:
        # A pipe may not have more rows yet.
        self._widths.append(width)
        if len(self._widths) == _FIRST_ROWS:
            self._width = dialects.common_width(self._widths)


def _unique(names: Sequence[str]) -> list[str]:
    """Replaces each name that an earlier column has by a Repeated.

    A dict keeps the order, and finds a name in a table of many columns fast.
    """
    keys: dict[str, None] = {}
    for name in names:
        key = Repeated(name, {*names, *keys}) if name in keys else name
        keys[key] = None
    return [*keys]


def _read_separated(
    path: StrPath, lines: IO[str], layout: Layout, file_format: str
) -> Iterator[Row]:
    delimiter = "\t" if layout.delimiter == "tab" else layout.delimiter
    known = dialects.KnownDialect(
        delimiter,
        layout.quoting,
        layout.has_header,
        layout.columns,
        layout.encoding,
    )
    is_tsv = file_format == "tsv" and not delimiter
    found = dialects.find_dialect(str(path), lines, known, is_tsv)
    dialect = found.dialect
    # A text may contain commas, but hardly tabs.
    is_tabs = dialect.delimiter == "\t"
    header = _Header(found.has_header, found.width, may_be_wider=is_tabs)
    for number, row in _parse_records(path, found.lines, dialect, header):
        if isinstance(row, ValueError):
            yield number, row
            continue
        text = " ".join(row)
        wrong = None if text.isascii() else _wrong_bytes(text, layout.encoding)
        if header.is_open:
            if wrong:
                raise ValueError(f"{path}, line {number}: {wrong}")
            header.set(row)
            continue
        is_swallowed = "\n" in text and dialects.is_swallowed(
            row, dialect.delimiter
        )
        yield number, wrong or header.row(row, is_swallowed)


def _parse_records(
    path: StrPath,
    lines: Iterable[str],
    dialect: dialects.Dialect,
    header: _Header,
) -> Iterator[tuple[int, list[str] | ValueError]]:
    """Yields the cells of each record, or the error of a malformed one."""
    reader = dialects.records_of(lines, dialect)
    while True:
        # A quoted cell may span lines. Number the row by its first line.
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            unclosed = _unclosed(error)
            # Stop if the malformed row spans several lines, because an unclosed
            # quote hides where the next row begins.
            if reader.line_num > number or header.is_open:
                raise ValueError(f"{path}, line {number}: {unclosed}") from None
            yield number, unclosed
            continue
        if cells is None:
            return
        if not cells or (header.is_open and headers.is_empty(cells)):
            continue
        if dialect.escapes:
            cells = dialects.show_escaped(cells)
        yield number, cells


def _unclosed(error: csv.Error) -> ValueError:
    # A table of one column has no delimiter that can be shown.
    reason = str(error).replace(f"'{dialects.NO_DELIMITER}'", "a line end")
    return ValueError(
        f"{reason}. Close the quote, write a quote in a quoted cell twice "
        '(""), or set --noquoting if quotes are ordinary characters in this '
        "table"
    )


def _wrong_bytes(text: str, encoding: str | None) -> ValueError | None:
    try:
        encodings.check(text, encoding)
    except ValueError as error:
        return error
    return None


def _read_workbook(path: StrPath, layout: Layout) -> Iterator[Row]:
    rows = workbooks.read(path, layout.sheet)
    first = [*itertools.islice(rows, 200)]
    records = [row for _, row in first]
    has_header = layout.has_header
    if has_header is not False:
        headers.check_title(str(path), records)
        table_checks.check_second_names(str(path), records)
    if has_header is None and records:
        has_header = headers.find_header(str(path), records, layout.columns)
    header = _Header(bool(has_header))
    for number, row in itertools.chain(first, rows):
        if header.is_open:
            header.set(row)
        else:
            yield number, header.row(row)


def read_parquet(
    path: StrPath, row_groups: Sequence[int] | None = None, first: int = 1
) -> Iterator[Row]:
    """Yields the rows of a file of Parquet.

    Args:
        path: path of the file.
        row_groups: numbers of the groups of rows to read. None = all.
        first: number of the first row.

    Raises:
        OSError, ValueError: as `read_rows` raises them.
    """
    with open_parquet(path) as table:
        number = first - 1
        for batch in table.iter_batches(256, row_groups):
            keys = _unique(batch.schema.names)
            columns = [_parquet_cells(column) for column in batch.columns]
            for cells in zip(*columns, strict=True):
                number += 1
                row = dict(zip(keys, cells, strict=True))
                yield number, json_tables.without_nan(row)


@contextlib.contextmanager
def open_parquet(path: StrPath) -> Iterator["pyarrow.parquet.ParquetFile"]:
    """Opens a file of Parquet as a pyarrow.parquet.ParquetFile.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged, or the package is missing.
    """
    try:
        # An optional package.
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path} needs pyarrow: {install_command('pyarrow')}"
        ) from None
    with text_files.open_binary(path) as file:
        try:
            table = pyarrow.parquet.ParquetFile(file)
        except pyarrow.ArrowException as error:
            raise ValueError(f"{path}: {error}") from error
        yield table


def describe_parquet(path: StrPath) -> JsonObject:
    """Returns a row of empty cells: {column: None or {inner column: None}}.

    Raises the errors of `open_parquet`.
    """
    with open_parquet(path) as table:
        schema = table.schema_arrow
        kinds = [schema.field(number).type for number in range(len(schema))]
        return {
            key: {each.name: None for each in kind} or None
            if str(kind).startswith("struct<")
            else None
            for key, kind in zip(_unique(schema.names), kinds, strict=True)
        }


def _parquet_cells(column: "pyarrow.Array") -> list[object]:
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):
        # Python's dates have no nanoseconds, and end with the year 9999.
        return column.cast("string").to_pylist()
