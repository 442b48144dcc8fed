"""Reads the rows of tables in all formats, and checks their columns.

Training and predict.py both use this reader. The formats are CSV, TSV, JSON,
Excel, Parquet and plain text, compressed or not. A table of any size needs only
the memory of a few rows, unless it is a JSON list, a workbook or a table of
Prodigy. Errors name the file and the line.
"""

import difflib
import itertools
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from typing import IO, NamedTuple, Self, cast

from data.io import encodings, text_files
from data.io.text_files import NumberedLine
from data.tables import csv_tables, json_tables, parquet, workbooks
from data.tables.rows import (
    ColumnNumber,
    NumberedRow,
    RepeatedName,
)
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout, format_of
from files.json_files import JsonObject
from files.paths import StrPath


class Table:
    """A table whose column names can be read before its rows.

    A pipe cannot be read twice. Therefore `read_column_names` keeps the file
    open and stores the first row, and the next `read` begins with this row. At
    the end of a `with` statement, a file that was not read is closed. Each
    later `read` opens the file again.

    Examples:
        ```python
        with Table("tickets.csv") as table:
            table.read_column_names()  # ["text", "label"]
            rows = [*table.read()]  # all rows. The file is opened only once
        ```

    Args:
        path: a file in any format of `table_layout.FORMATS`.
        layout: how the table is written.
    """

    def __init__(
        self, path: StrPath, layout: TableLayout = DEFAULT_LAYOUT
    ) -> None:
        self.path = path
        self.layout = layout
        # None unless `read_column_names` has opened the file since the last
        # `read`.
        self._opened: _OpenedRows | None = None

    def read_column_names(self) -> list[str]:
        """Returns the names of the columns of the first row, [] without rows.

        Raises:
            OSError: the file cannot be read.
            ValueError: the first row is malformed.
        """
        if self._opened is None:
            rows = read_rows(self.path, self.layout)
            self._opened = _OpenedRows([*itertools.islice(rows, 1)], rows)
        if not self._opened.first_rows:
            return []
        [first_row] = self._opened.first_rows
        return [*first_row.require_cells(self.path)]

    def __enter__(self) -> Self:
        """Returns this table, whose file is not open yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file, if `read_column_names` has left it open."""
        if self._opened is not None:
            self._opened.other_rows.close()
            self._opened = None

    def read(self) -> Iterator[NumberedRow]:
        """Returns all rows of the table, as `read_rows` yields them."""
        if self._opened is None:
            return read_rows(self.path, self.layout)
        first_rows, other_rows = self._opened
        self._opened = None
        return itertools.chain(first_rows, other_rows)


class _OpenedRows(NamedTuple):
    """The rows of a table whose first row was read.

    Attributes:
        first_rows: the first row, [] without rows.
        other_rows: reads the rows after it from the open file.
    """

    first_rows: list[NumberedRow]
    other_rows: Generator[NumberedRow, None, None]


def read_rows(
    path: StrPath, layout: TableLayout = DEFAULT_LAYOUT
) -> Generator[NumberedRow, None, None]:
    """Yields each row of a table, or an error for a malformed row.

    Args:
        path: path of a file, or text_files.STDIN.
        layout: how the table is written.

    Yields:
        The only column of plain text is `text`. Blank lines are rows only
        there. If a name of CSV, TSV or Excel is repeated, the key of the later
        column is a `RepeatedName`. NaN becomes None, an empty cell.

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
                yield from read_text_rows(
                    text_files.number_lines(lines), layout.encoding
                )
            elif file_format in ("csv", "tsv"):
                is_tsv = file_format == "tsv"
                yield from csv_tables.read_csv(
                    path, lines, layout, is_tsv=is_tsv
                )
            else:
                is_json = file_format is not None
                yield from _read_json(path, lines, layout, is_json=is_json)


def read_text_rows(
    lines: Iterable[NumberedLine], encoding: str | None = None
) -> Iterator[NumberedRow]:
    """Yields a row for each line of a plain text."""
    for line_number, line in lines:
        try:
            encodings.check_encoding(line, encoding)
        except ValueError as error:
            yield NumberedRow(line_number, error)
        else:
            yield NumberedRow(line_number, {"text": line.rstrip("\r\n")})


def _read_json(
    path: StrPath, lines: IO[str], layout: TableLayout, *, is_json: bool
) -> Iterator[NumberedRow]:
    """Yields the rows of JSON, or of plain text if it is unknown which it is.

    `is_json` is whether the file's name or a flag says that it is JSON.
    """
    numbered = text_files.number_lines(lines)
    text_format, first_lines = json_tables.guess_text_format(
        numbered, layout.columns, is_json=is_json
    )
    all_lines = itertools.chain(first_lines, numbered)
    if text_format == "text":
        yield from read_text_rows(all_lines, layout.encoding)
    elif text_format == "jsonl":
        yield from json_tables.read_json_lines(all_lines, layout.encoding)
    else:
        text = "".join(line.text for line in all_lines)
        encodings.check_encoding(text, layout.encoding)
        yield from json_tables.read_json_list(path, text, layout.columns)


class TableRow(NamedTuple):
    """A row of a table, and where it stands.

    Attributes:
        row_number: number of the line in which the row begins. In a JSON list,
            Parquet and Excel, the number of the row. Messages call both numbers
            the line.
        spreadsheet_number: number of the row as a spreadsheet counts, in which
            the names of the columns are row 1.
        place: the file and the line, for messages.
        cells: {column: cell}.
    """

    row_number: int
    spreadsheet_number: int
    place: str
    cells: JsonObject


def read_table(
    table: Table,
    text_columns: Sequence[str],
    columns: Sequence[str] = (),
    *,
    fills_later_rows: bool = False,
) -> Iterator[TableRow]:
    """Yields the rows of a table. Fails at a malformed row.

    Each row has a text in each of the `text_columns`, "" for an empty cell, and
    a cell in the other `columns`. If `fills_later_rows`, only the first row
    must have all of these columns. Later rows then get an empty cell in a
    column that they lack.

    Raises:
        OSError: the file cannot be read.
        ValueError: a row or the table is malformed, a row lacks a column, or a
            cell of the `text_columns` is not a string.
    """
    columns_of_table = table.read_column_names()
    first_number = _choose_first_number(table.path, columns_of_table)
    for row_index, row in enumerate(table.read()):
        place = row.place_in(table.path)
        cells = row.require_cells(table.path)
        if fills_later_rows and row_index > 0:
            cells = _with_columns(cells, [*text_columns, *columns])
        check_columns(place, cells, text_columns)
        check_columns(place, cells, columns)
        texts = {
            column: _parse_text(cells[column], f"{place}, column {column!r}")
            for column in text_columns
        }
        yield TableRow(
            row.number, first_number + row_index, place, cells | texts
        )


def _with_columns(cells: JsonObject, columns: Iterable[str]) -> JsonObject:
    """Returns a row with an empty cell in each of `columns` that it lacks."""
    lacking = [column for column in columns if column not in cells]
    return cells | dict.fromkeys(lacking)


def _choose_first_number(path: StrPath, columns: Sequence[str]) -> int:
    """Returns the number of the first row, as a spreadsheet counts.

    The number is 2 if the names of the `columns` are in a line or row of their
    own.
    """
    is_separated = format_of(path) in ("csv", "tsv", "xlsx")
    is_numbered = any(isinstance(name, ColumnNumber) for name in columns)
    return 2 if is_separated and not is_numbered else 1


def _parse_text(cell: object, place: str) -> str:
    """Returns the text of a cell, "" if it is empty."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        raise ValueError(
            f"{place}: the text must be a string. Received: {str(cell)[:80]}"
        )
    return cell


def texts_of(row: JsonObject, text_columns: Sequence[str]) -> list[str]:
    """Returns the texts of a row that `read_table` read.

    `text_columns` are all or some of the `text_columns` of `read_table`.
    """
    # `read_table` has checked that these cells are texts.
    return [cast("str", row[column]) for column in text_columns]


def check_columns(
    place: str, columns: Collection[str], needed: Iterable[str]
) -> None:
    """Checks that each needed column occurs once.

    `place` is the beginning of the message.

    Raises:
        ValueError: a column is missing, or occurs twice.
    """
    repeated = {key.name for key in columns if isinstance(key, RepeatedName)}
    for column in needed:
        if column in repeated:
            raise ValueError(
                f"{place}: two columns are named {column!r}. Rename one of "
                "them, or choose another column"
            )
        if column not in columns:
            close_matches = difflib.get_close_matches(column, columns, 1)
            hint = (
                f". Did you mean {close_matches[0]!r}?" if close_matches else ""
            )
            raise ValueError(
                f"{place}: there is no column {column!r}; the columns are "
                f"{', '.join(map(repr, columns))}{hint}"
            )
