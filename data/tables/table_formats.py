"""Reads the rows of tables in all formats: CSV, JSON, Excel, plain text."""

import itertools
from collections.abc import Generator, Iterable, Iterator
from typing import IO

from data.io import encodings, text_files
from data.tables import (
    csv_rows,
    dialects,
    header_detection,
    json_tables,
    parquet,
    workbooks,
)
from data.tables.rows import NumberedRow, RowBuilder, is_empty_row
from data.tables.table_layout import (
    DEFAULT_LAYOUT,
    TableLayout,
    format_of,
)
from files.json_files import JsonObject
from files.paths import StrPath

# Number of rows of a workbook that show whether the first names the columns.
_NUM_WORKBOOK_ROWS = 200


def read_rows(
    path: StrPath, layout: TableLayout = DEFAULT_LAYOUT
) -> Generator[NumberedRow, None, None]:
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
            if file_format == "text":
                yield from read_text_rows(enumerate(lines, 1), layout.encoding)
            elif file_format in ("csv", "tsv"):
                is_tsv = file_format == "tsv"
                yield from _read_csv(path, lines, layout, is_tsv=is_tsv)
            else:
                is_json = file_format is not None
                yield from _read_json(path, lines, layout, is_json=is_json)


def read_text_rows(
    lines: Iterable[tuple[int, str]], encoding: str | None = None
) -> Iterator[NumberedRow]:
    """Yields a row for each numbered line of a plain text."""
    for line_number, line in lines:
        try:
            encodings.check_encoding(line, encoding)
        except ValueError as error:
            yield line_number, error
        else:
            yield line_number, {"text": line.rstrip("\r\n")}


def _read_json(
    path: StrPath, lines: IO[str], layout: TableLayout, *, is_json: bool
) -> Iterator[NumberedRow]:
    """Yields the rows of JSON, or of plain text if it is unknown which it is.

    `is_json` is whether the file's name or a flag says that it is JSON.
    """
    numbered = enumerate(lines, 1)
    first_lines, text_format = json_tables.guess_text_format(
        numbered, layout.columns, is_json=is_json
    )
    all_lines = itertools.chain(first_lines, numbered)
    if text_format == "text":
        yield from read_text_rows(all_lines, layout.encoding)
    elif text_format == "jsonl":
        yield from json_tables.read_json_lines(all_lines, layout.encoding)
    else:
        text = "".join(line for _, line in all_lines)
        encodings.check_encoding(text, layout.encoding)
        yield from json_tables.read_json_list(path, text, layout.columns)


def _read_csv(
    path: StrPath, lines: IO[str], layout: TableLayout, *, is_tsv: bool
) -> Iterator[NumberedRow]:
    """Yields the rows of CSV or TSV."""
    table = dialects.guess_dialect(str(path), lines, layout, is_tsv=is_tsv)
    rows = csv_rows.parse_rows(table.lines, table.dialect)
    names: list[str] = []
    if table.has_header:
        names = _read_names(path, rows, layout.encoding)
    builder = RowBuilder(
        names,
        table.width,
        # A text may contain commas, but hardly tabs.
        may_be_wider=table.dialect.delimiter == "\t",
    )
    for line_number, row in rows:
        if isinstance(row, csv_rows.MalformedRow):
            explanation = row.explain("--noquoting")
            if row.is_multiline:
                raise ValueError(f"{path}, line {line_number}: {explanation}")
            yield line_number, ValueError(explanation)
        elif row:
            yield (
                line_number,
                _build_row(
                    builder, row, table.dialect.delimiter, layout.encoding
                ),
            )


def _build_row(
    builder: RowBuilder,
    cells: list[str],
    delimiter: str,
    encoding: str | None,
) -> JsonObject | ValueError:
    """Returns a row, or an error if its cells are no row or wrongly encoded."""
    text = " ".join(cells)
    if error := _encoding_error_of(text, encoding):
        return error
    has_swallowed_lines = "\n" in text and csv_rows.has_swallowed_lines(
        cells, delimiter
    )
    return builder.build(cells, has_swallowed_lines)


def _read_names(
    path: StrPath,
    rows: Iterable[tuple[int, list[str] | csv_rows.MalformedRow]],
    encoding: str | None,
) -> list[str]:
    """Returns the cells of the first row that is not empty."""
    for line_number, row in rows:
        place = f"{path}, line {line_number}"
        if isinstance(row, csv_rows.MalformedRow):
            raise ValueError(f"{place}: {row.explain('--noquoting')}")
        if is_empty_row(row):
            continue
        if error := _encoding_error_of(" ".join(row), encoding):
            raise ValueError(f"{place}: {error}")
        return row
    return []


def _encoding_error_of(text: str, encoding: str | None) -> ValueError | None:
    """Returns the error of a text that was wrongly encoded, or None."""
    if text.isascii():
        return None
    try:
        encodings.check_encoding(text, encoding)
    except ValueError as error:
        return error
    return None


def _read_workbook(path: StrPath, layout: TableLayout) -> Iterator[NumberedRow]:
    """Yields the rows of a sheet of Excel."""
    rows = workbooks.read_sheet(path, layout.sheet)
    first_rows = [*itertools.islice(rows, _NUM_WORKBOOK_ROWS)]
    cells_of_rows = [cells for _, cells in first_rows]
    has_header = header_detection.has_header(str(path), cells_of_rows, layout)
    all_rows = itertools.chain(first_rows, rows)
    names: list[str] = []
    if has_header:
        _, names = next(all_rows, (0, names))
    builder = RowBuilder(names)
    for row_number, cells in all_rows:
        yield row_number, builder.build(cells)
