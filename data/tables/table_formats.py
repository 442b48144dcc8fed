"""Reads the rows of tables in all formats: CSV, JSON, Excel, plain text."""

import itertools
from collections.abc import Generator, Iterable, Iterator
from typing import IO

from data.io import encodings, text_files
from data.tables import csv_tables, json_tables, parquet, workbooks
from data.tables.rows import NumberedRow
from data.tables.table_layout import (
    DEFAULT_LAYOUT,
    TableLayout,
    format_of,
)
from files.paths import StrPath


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
        yield from workbooks.read_workbook(path, layout)
    else:
        with text_files.open_text(path, layout.encoding) as lines:
            if file_format == "text":
                yield from read_text_rows(enumerate(lines, 1), layout.encoding)
            elif file_format in ("csv", "tsv"):
                is_tsv = file_format == "tsv"
                yield from csv_tables.read_csv(
                    path, lines, layout, is_tsv=is_tsv
                )
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
