"""Reads tables in their formats, from CSV, JSON and Excel to plain text."""

import itertools
from collections.abc import Iterable, Iterator
from typing import IO, Literal, NamedTuple, TypeAlias, get_args

from data.io import compressed_files, encodings, text_files
from data.tables import (
    csv_rows,
    dialects,
    header_checks,
    headers,
    json_tables,
    parquet,
    workbooks,
)
from data.tables.rows import NumberedRow, RowBuilder, is_empty_row
from files.paths import StrPath

TableFormat: TypeAlias = Literal[
    "jsonl", "csv", "tsv", "parquet", "xlsx", "text"
]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
# {ending of a file's name: format of the table}.
FORMAT_OF_ENDING: dict[str, TableFormat] = {
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


class TableLayout(NamedTuple):
    """The format, the marks and the header of a table.

    Attributes:
        format: None = the ending of the file's name decides. For other
            endings, the first line decides: JSON if it begins with `{` or a
            list of objects, else plain text.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets write
            them. If False, `"` is an ordinary character. None = find out from
            the first rows.
        delimiter: character between cells of CSV and TSV, one of
            `dialects.DELIMITERS`. None = find out from the first rows.
        has_header: whether the first line of CSV, TSV and Excel names the
            columns. If False, their names are "1", "2" and so on. None = find
            out from the first rows.
        encoding: encoding of a text, for Python. A mark in the file overrides
            it. None = UTF-8.
        sheet: name of the sheet of a workbook. None = the first one.
        columns: names of columns that the user chose. A first line that
            contains one of them is a header.
    """

    format: TableFormat | None = None
    quoting: bool | None = None
    delimiter: dialects.Delimiter | None = None
    has_header: bool | None = True
    encoding: str | None = None
    sheet: str | None = None
    columns: tuple[str, ...] = ()


DEFAULT_LAYOUT = TableLayout()

# Number of rows of a workbook that show whether the first names the columns.
_NUM_WORKBOOK_ROWS = 200


def format_of(path: StrPath) -> TableFormat | None:
    """Returns the format that the ending of a file's name shows, or None.

    Examples:
        >>> format_of("Tickets.CSV.gz"), format_of("tickets.bin")
        ('csv', None)
    """
    name = compressed_files.uncompressed_name(path)
    return next(
        (
            FORMAT_OF_ENDING[end]
            for end in FORMAT_OF_ENDING
            if name.endswith(end)
        ),
        None,
    )


def read_rows(
    path: StrPath, layout: TableLayout = DEFAULT_LAYOUT
) -> Iterator[NumberedRow]:
    """Yields each row of a table, or an error for a malformed row.

    Args:
        path: path of a file, or text_files.STDIN.
        layout: how the table is written.

    Yields:
        (number of the row's first line, row). In a JSON list, Parquet and
        Excel, it is the number of the entry or row. `row` is {column: cell}, or
        a ValueError if the row is malformed. The only column of plain text is
        `text`. Blank lines are rows only there. If a name of CSV, TSV or Excel
        is repeated, the key of the later column is a `RepeatedName`. NaN
        becomes None, an empty cell.

    Raises:
        OSError: the file cannot be read.
        ValueError: an unclosed quote spans several lines, nothing shows the
            delimiter or the header, or a package is missing.
    """
    file_format = layout.format or format_of(path)
    if file_format == "parquet":
        yield from parquet.read_parquet(path)
    elif file_format == "xlsx":
        yield from _read_workbook(path, layout)
    else:
        with text_files.open_text(path, layout.encoding) as lines:
            yield from _read_lines(path, lines, layout, file_format)


def read_text_rows(
    lines: Iterable[tuple[int, str]], encoding: str | None = None
) -> Iterator[NumberedRow]:
    """Yields a row for each numbered line of a plain text."""
    for line_number, line in lines:
        try:
            encodings.check_text(line, encoding)
        except ValueError as error:
            yield line_number, error
        else:
            yield line_number, {"text": line.rstrip("\r\n")}


def _read_lines(
    path: StrPath,
    lines: IO[str],
    layout: TableLayout,
    file_format: TableFormat | None,
) -> Iterator[NumberedRow]:
    if file_format in ("csv", "tsv"):
        return _read_separated(path, lines, layout, file_format)
    if file_format == "text":
        return read_text_rows(enumerate(lines, 1), layout.encoding)
    return _read_json(path, lines, file_format, layout)


def _read_json(
    path: StrPath,
    lines: IO[str],
    file_format: TableFormat | None,
    layout: TableLayout,
) -> Iterator[NumberedRow]:
    numbered = enumerate(lines, 1)
    first_lines, kind = json_tables.find_text_kind(
        numbered, layout.columns, is_json=file_format is not None
    )
    all_lines = itertools.chain(first_lines, numbered)
    if kind == "text":
        yield from read_text_rows(all_lines, layout.encoding)
    elif kind == "jsonl":
        yield from json_tables.read_json_lines(all_lines, layout.encoding)
    else:
        text = "".join(line for _, line in all_lines)
        encodings.check_text(text, layout.encoding)
        yield from json_tables.read_json_list(path, text, layout.columns)


def _read_separated(
    path: StrPath,
    lines: IO[str],
    layout: TableLayout,
    file_format: Literal["csv", "tsv"],
) -> Iterator[NumberedRow]:
    """Yields the rows of CSV or TSV."""
    table_dialect = _find_dialect(path, lines, layout, file_format)
    rows = csv_rows.parse_rows(table_dialect.lines, table_dialect.dialect)
    names: list[str] = []
    if table_dialect.has_header:
        names = _read_names(path, rows, layout.encoding)
    builder = RowBuilder(
        names,
        table_dialect.width,
        # A text may contain commas, but hardly tabs.
        may_be_wider=table_dialect.dialect.delimiter == "\t",
    )
    for line_number, row in rows:
        if isinstance(row, csv_rows.MalformedRow):
            explanation = row.explain("--noquoting")
            if row.spans_lines:
                raise ValueError(f"{path}, line {line_number}: {explanation}")
            yield line_number, ValueError(explanation)
        elif row:
            text = " ".join(row)
            is_swallowed = "\n" in text and csv_rows.is_swallowed(
                row, table_dialect.dialect.delimiter
            )
            wrong = _find_wrong_bytes(text, layout.encoding)
            yield line_number, wrong or builder.build(row, is_swallowed)


def _find_dialect(
    path: StrPath,
    lines: IO[str],
    layout: TableLayout,
    file_format: Literal["csv", "tsv"],
) -> dialects.TableDialect:
    """Finds how a table of CSV or TSV is written, as far as its layout asks."""
    delimiter = "\t" if layout.delimiter == "tab" else layout.delimiter
    return dialects.find_dialect(
        str(path),
        lines,
        dialects.ChosenDialect(
            delimiter,
            layout.quoting,
            layout.has_header,
            layout.columns,
            layout.encoding,
        ),
        is_tsv=file_format == "tsv" and not delimiter,
    )


def _read_names(
    path: StrPath,
    rows: Iterable[tuple[int, list[str] | csv_rows.MalformedRow]],
    encoding: str | None,
) -> list[str]:
    """Returns the cells of the first row that is not empty.

    Raises a ValueError if the row is malformed.
    """
    for line_number, row in rows:
        where = f"{path}, line {line_number}"
        if isinstance(row, csv_rows.MalformedRow):
            raise ValueError(f"{where}: {row.explain('--noquoting')}")
        if is_empty_row(row):
            continue
        if wrong := _find_wrong_bytes(" ".join(row), encoding):
            raise ValueError(f"{where}: {wrong}")
        return row
    return []


def _find_wrong_bytes(text: str, encoding: str | None) -> ValueError | None:
    """Returns the error of a text that was wrongly encoded, or None."""
    if text.isascii():
        return None
    try:
        encodings.check_text(text, encoding)
    except ValueError as error:
        return error
    return None


def _read_workbook(path: StrPath, layout: TableLayout) -> Iterator[NumberedRow]:
    """Yields the rows of a sheet of Excel."""
    rows = workbooks.read_sheet(path, layout.sheet)
    first_rows = [*itertools.islice(rows, _NUM_WORKBOOK_ROWS)]
    cells_of_rows = [cells for _, cells in first_rows]
    has_header = layout.has_header
    if has_header is not False:
        header_checks.check_title(str(path), cells_of_rows)
        header_checks.check_second_names(str(path), cells_of_rows)
    if has_header is None and cells_of_rows:
        has_header = headers.has_header(
            str(path), cells_of_rows, layout.columns
        )
    all_rows = itertools.chain(first_rows, rows)
    names: list[str] = []
    if has_header:
        _, names = next(all_rows, (0, names))
    builder = RowBuilder(names)
    for row_number, cells in all_rows:
        yield row_number, builder.build(cells)
