"""Reads the rows of tables, checks their columns, and adds answers to rows.

Training and predict.py both use this reader. table_formats.py knows the formats
of tables: CSV, TSV, JSON, Excel, Parquet and plain text, compressed or not. A
table of any size needs only the memory of a few rows, unless it is a JSON list
or a workbook. Errors name the file and the line.
"""

import difflib
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from data.tables.rows import (
    ColumnNumber,
    NumberedRow,
    RepeatedName,
    require_cells,
)
from data.tables.table_formats import read_rows
from data.tables.table_layout import DEFAULT_LAYOUT, TableLayout, format_of
from files.json_files import JsonObject
from files.paths import StrPath


class Table:
    """A table whose columns a caller can look at before it reads the rows.

    A look and the first `read` together open the file only once, because a pipe
    cannot be read again. Each further `read` opens the file again.

    Args:
        path: a file in any format of table_formats.py.
        layout: how the table is written.
    """

    def __init__(
        self, path: StrPath, layout: TableLayout = DEFAULT_LAYOUT
    ) -> None:
        self.path = path
        self.layout = layout
        self._rows = read_rows(path, layout)

    def read_column_names(self) -> list[str]:
        """Returns the names of the columns of the first row, [] without rows.

        Raises:
            OSError: the file cannot be read.
            ValueError: the first row is malformed.
        """
        for line_number, row in self._rows:
            cells = require_cells(row, f"{self.path}, line {line_number}")
            self._rows = itertools.chain([(line_number, row)], self._rows)
            return [*cells]
        return []

    def has_named_columns(self) -> bool:
        """Returns whether the first line or row names the columns.

        The first call looks at the file as `read_column_names` does.

        Raises:
            OSError: the file cannot be read.
            ValueError: the first row is malformed.
        """
        is_separated = format_of(self.path) in ("csv", "tsv", "xlsx")
        columns = self.read_column_names()
        is_numbered = any(isinstance(name, ColumnNumber) for name in columns)
        return is_separated and not is_numbered

    def read(self) -> Iterator[NumberedRow]:
        """Returns all rows of the table, as `read_rows` yields them."""
        rows = self._rows
        # This opens the file only when the next look or `read` needs a row.
        self._rows = read_rows(self.path, self.layout)
        return rows


class TableRow(NamedTuple):
    """A row of a table, and where it stands.

    Attributes:
        line_number: number of its line, or of its row in another format.
        row_number: its number as a spreadsheet counts, in which the names of
            the columns are row 1.
        where: the file and the line, for messages.
        cells: {column: cell}.
    """

    line_number: int
    row_number: int
    where: str
    cells: JsonObject


def read_table(
    table: Table,
    text_columns: Sequence[str],
    columns: Sequence[str] = (),
    *,
    may_lack: bool = False,
) -> Iterator[TableRow]:
    """Yields the rows of a table. Fails at a malformed row.

    Each row has a text in each of the `text_columns`, "" for an empty cell, and
    a cell in the other `columns`. If `may_lack`, only the first row must have
    all of these columns. Later rows then get an empty cell in a column that
    they lack.

    Raises:
        OSError: the file cannot be read.
        ValueError: a row is malformed or lacks a column, a text is no string,
            or the table cannot be read (see `read_rows`).
    """
    columns_of_first: set[str] = set()
    first_number = 2 if table.has_named_columns() else 1
    for row_number, (line_number, row) in enumerate(table.read(), first_number):
        where = f"{table.path}, line {line_number}"
        cells = require_cells(row, where)
        lacking = [column for column in columns_of_first if column not in cells]
        cells = cells | dict.fromkeys(lacking)
        check_columns(where, cells, text_columns)
        check_columns(where, cells, columns)
        texts = {
            column: _read_text(cells[column], f"{where}, column {column!r}")
            for column in text_columns
        }
        if may_lack:
            columns_of_first = {*text_columns, *columns}
        yield TableRow(line_number, row_number, where, cells | texts)


def texts_of(row: JsonObject, text_columns: Sequence[str]) -> list[str]:
    """Returns the texts of a row that `read_table` read.

    `text_columns` are all or some of the `text_columns` of `read_table`.
    """
    # `read_table` has checked that these cells are texts.
    return [cast("str", row[column]) for column in text_columns]


def _read_text(cell: object, where: str) -> str:
    """Returns the text of a cell, "" if it is empty."""
    if cell is None:
        return ""
    if not isinstance(cell, str):
        raise ValueError(
            f"{where}: the text must be a string. Received: {str(cell)[:80]}"
        )
    return cell


def check_columns(
    where: str, columns: Collection[str], needed: Iterable[str]
) -> None:
    """Checks that each needed column occurs once.

    `where` is the beginning of the message.

    Raises:
        ValueError: a column is missing, or occurs twice.
    """
    repeated = {key.name for key in columns if isinstance(key, RepeatedName)}
    for column in needed:
        if column in repeated:
            raise ValueError(
                f"{where}: two columns are named {column!r}. Rename one of "
                "them, or choose another column"
            )
        if column not in columns:
            close_matches = difflib.get_close_matches(column, columns, 1)
            hint = (
                f". Did you mean {close_matches[0]!r}?" if close_matches else ""
            )
            raise ValueError(
                f"{where}: there is no column {column!r}; the columns are "
                f"{', '.join(map(repr, columns))}{hint}"
            )


def with_answer(
    row: Mapping[str, object],
    answer: Mapping[str, object],
    columns: Collection[str] = (),
) -> JsonObject:
    """Returns a row of a table with the fields of an answer after its cells.

    If the row, or one of the known `columns` of the table, has the name of a
    field, the answer's field gets the prefix `predicted_`.

    Examples:
        >>> with_answer({"text": "Hi", "label": "a"}, {"label": "b"})
        {'text': 'Hi', 'label': 'a', 'predicted_label': 'b'}
    """

    def is_taken(name: str) -> bool:
        return name in row or name in columns

    def is_any_taken(name: str, value: object) -> bool:
        # In CSV, {"a": {"b": 1}} is the column a.b.
        inner_names = value if isinstance(value, dict) else ()
        names = [name, *(f"{name}.{inner}" for inner in inner_names)]
        return any(map(is_taken, names))

    return {**row} | {
        f"predicted_{name}" if is_any_taken(name, value) else name: value
        for name, value in answer.items()
    }
