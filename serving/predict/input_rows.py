"""Reads the requests in files or arguments as input rows.

An `InputRow` is a request with the columns of its row. A `RowParser` says which
column is which field of the request.
"""

import dataclasses
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from absl import logging

from data.jobs import file_ranges
from data.jobs.file_ranges import FileRange
from data.tables import tables
from data.tables.column_names import find_usual_columns
from data.tables.rows import NumberedRow
from data.tables.table_layout import TableLayout, format_of
from files.paths import named_errors
from serving.text_tasks.request_fields import LIST_FIELDS, Field, Request
from serving.text_tasks.text_task import AnyTextTask

_DEFAULT_LAYOUT = TableLayout(has_header=None)
# The cells of a request that comes from no row. The mapping is read-only,
# because all such requests share it.
NO_CELLS: Mapping[str, object] = types.MappingProxyType({})


class InputRow(NamedTuple):
    """A row of the input: a request, and its position.

    Attributes:
        line: number of the request's first line, or of its row in Parquet.
        request: the request, {} if its row cannot be read.
        error: why the row cannot be read, or None.
        file: name of the file if there are several files, else "".
        cells: {column: value} of the row, {} for plain text.
    """

    line: int
    request: Request
    error: ValueError | None = None
    file: str = ""
    cells: Mapping[str, object] = NO_CELLS

    def __str__(self) -> str:
        """Returns "FILE, line N", or "line N" without a file."""
        return f"{self.file}, line {self.line}".removeprefix(", ")


def create_input_rows(
    text_task: AnyTextTask, texts: Sequence[str]
) -> list[InputRow]:
    """Returns the requests in the texts of the command line.

    Raises:
        ValueError: there are too few or too many texts.
    """
    numbered = enumerate(to_requests(text_task, texts), start=1)
    return [InputRow(row_number, request) for row_number, request in numbered]


def to_requests(text_task: AnyTextTask, texts: Sequence[str]) -> list[Request]:
    """Converts the texts of the command line to requests.

    If the task has one field, each text is a request. Otherwise the texts
    become the fields of one request, in order. If the last field is a list, it
    contains all remaining texts.

    Raises:
        ValueError: there are too few or too many texts.
    """
    names = text_task.field_names
    if len(names) == 1:
        return [{names[0]: text} for text in texts]
    values: list[object] = [*texts]
    if names[-1] in LIST_FIELDS and len(texts) > 1:
        values = [texts[0], [*texts[1:]]]
    num_required = sum(field.is_required for field in text_task.fields)
    if not num_required <= len(values) <= len(names):
        raise ValueError(
            f"{text_task.name}: pass these texts in this order, each in "
            f"quotes: {', '.join(names)}. Received: {values}"
        )
    return [dict(zip(names, values, strict=False))]


def read_input_rows(
    text_task: AnyTextTask,
    paths: Sequence[str | FileRange],
    columns: Sequence[str | None] = (),
    layout: TableLayout = _DEFAULT_LAYOUT,
    trained_columns: Sequence[str | None] = (),
    file_names: Sequence[str] | None = None,
) -> Iterator[InputRow]:
    """Yields an unchecked InputRow for each row of the files.

    A blank line is a row only in plain text. If a row cannot be read, reading
    continues with the next row.

    Args:
        text_task: task that will answer the requests.
        paths: paths or ranges of the files, or text_files.STDIN for standard
            input.
        columns: names of the columns to read for the task's first field, second
            field, and so on. None reads the column with the field's own name.
        layout: how the files are written.
        trained_columns: names like `columns`, of the table that the model was
            trained on. A field whose entry in `columns` is None reads the
            column with this name. If a table has no such column, the function
            finds the column of texts by its usual name, as in training.
        file_names: for each path, the name of the file in its InputRows. None =
            the path, or "" if there is only one path.

    Raises:
        OSError: a file cannot be read.
        ValueError: a column is missing, or an unclosed quote spans lines.
    """
    chosen, trained = _choose_columns(text_task, columns, trained_columns)
    # If the columns are chosen by number, the first line is no header.
    is_by_number = chosen and all(map(str.isdecimal, chosen.values()))
    if is_by_number and layout.has_header is None:
        layout = layout._replace(has_header=False)
    layout = layout._replace(columns=(*chosen.values(), *trained.values()))
    ranges = [
        path if isinstance(path, FileRange) else FileRange(path)
        for path in paths
    ]
    if file_names is None:
        has_several_files = len(ranges) > 1
        file_names = [part.path if has_several_files else "" for part in ranges]
    for file_range, file in zip(ranges, file_names, strict=True):
        file_format = layout.format or format_of(file_range.path)
        parser = RowParser(
            text_task=text_task,
            chosen_columns=chosen,
            trained_columns=trained,
            is_table=file_format not in ("jsonl", "text", None),
            may_be_plain=file_format in ("text", None),
        )
        rows = file_ranges.read_range(file_range, layout)
        for input_row in _to_input_rows(parser, rows, file_range.path):
            yield input_row._replace(file=file)


def _choose_columns(
    text_task: AnyTextTask,
    columns: Sequence[str | None],
    trained_columns: Sequence[str | None],
) -> tuple[dict[str, str], dict[str, str]]:
    """Returns {field: column} of the flags, and of the table of training."""
    if len(columns) > len(text_task.fields) and columns[-1]:
        raise ValueError(
            f"--text_b_column={columns[-1]}: the only fields of "
            f"{text_task.name} are {', '.join(text_task.field_names)}; "
            "omit the flag"
        )
    names = text_task.field_names
    chosen = {
        field: column
        for field, column in zip(names, columns, strict=False)
        if column
    }
    trained = {
        field: column
        for field, column in zip(names, trained_columns, strict=False)
        if column
        and field not in LIST_FIELDS
        # Training names its text column "text" by default, so the name says
        # nothing, except for a second text.
        and (column != "text" or field == "text_b")
    }
    return chosen, trained


def _to_input_rows(
    parser: "RowParser", rows: Iterable[NumberedRow], path: str
) -> Iterator[InputRow]:
    """Yields an InputRow without a file for each row of the file `path`."""
    with named_errors(path):
        for row_number, row in rows:
            if isinstance(row, ValueError):
                yield InputRow(row_number, {}, row)
            else:
                yield _to_input_row(parser, row_number, row, path)


def _to_input_row(
    parser: "RowParser", row_number: int, row: Mapping[str, object], path: str
) -> InputRow:
    """Returns an InputRow, whose error says why the row is no request.

    Raises a ValueError if the row is part of a table, whose other rows are no
    requests either.
    """
    try:
        request = parser.parse(row)
    except ValueError as error:
        if parser.is_table:
            raise ValueError(f"{path}: {error}") from None
        return InputRow(row_number, {}, error, cells=row)
    cells = NO_CELLS if parser.is_plain(row) else row
    return InputRow(row_number, request, cells=cells)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowParser:
    """Converts the rows of a file, {column: cell}, to requests.

    The column of a field is the first of these that the row contains:

    1. the column that the flags choose for the field, and then no other
    2. the column that the model was trained on
    3. a column with the field's own name, or one of its other names
    4. in a table, if the only field is a text and the flags choose no column,
       the column whose name is usual for a text.

    Attributes:
        text_task: task that will answer the requests.
        chosen_columns: {field: its column} of the flags.
        trained_columns: {field: its column} of the table that the model was
            trained on.
        is_table: whether the file is a table, such as CSV.
        may_be_plain: whether a line of the file may be plain text.
    """

    text_task: AnyTextTask
    chosen_columns: Mapping[str, str]
    trained_columns: Mapping[str, str]
    is_table: bool
    may_be_plain: bool

    def is_plain(self, row: Mapping[str, object]) -> bool:
        """Returns whether the row is a line of plain text, without columns."""
        return self.may_be_plain and [*row] == ["text"]

    def parse(self, row: Mapping[str, object]) -> Request:
        """Converts a row to a request, which contains the other cells too.

        In a table, empty cells are omitted unless their field is required, and
        the field `words` is split at white space.

        Raises:
            ValueError: the row lacks a column, or repeats its name.
        """
        columns = self._find_columns(row)
        chosen = self._chosen_of(row)
        renamed = {
            field: column
            for field, column in columns.items()
            if field.name in chosen or column not in field.names
        }
        # A renamed column overrides columns that are named like the field.
        overridden = {*renamed.values()}
        for field in renamed:
            overridden.update(field.names)
        request: Request = {
            column: cell
            for column, cell in row.items()
            if column not in overridden and not (self.is_table and cell is None)
        }
        for field, column in columns.items():
            if field in renamed:
                request[field.name] = _to_text(field.name, row[column])
            elif self.is_table and field.is_required:
                request[column] = _to_text(column, row[column])
        words = request.get("words")
        if self.is_table and isinstance(words, str):
            request["words"] = words.split()
        return request

    def _chosen_of(self, row: Mapping[str, object]) -> Mapping[str, str]:
        """Returns `chosen_columns`, {} for plain text, which has no columns."""
        return {} if self.is_plain(row) else self.chosen_columns

    def _find_columns(self, row: Mapping[str, object]) -> dict[Field, str]:
        """Returns {field: its column} of the fields that the row contains."""
        chosen = self._chosen_of(row)
        # If a model may read pairs, no rule finds their columns.
        may_guess = (
            self.is_table
            and not chosen
            and self.text_task.field_names == ["text"]
        )
        columns: dict[Field, str] = {}
        for field in self.text_task.fields:
            names = [self.trained_columns.get(field.name), *field.names]
            if field.name in chosen:
                names = [chosen[field.name]]
            column = next((name for name in names if name in row), None)
            if not column and may_guess:
                column = _guess_and_log_column(row)
            if column:
                tables.check_columns("the table", row, [column])
                columns[field] = column
            elif field.name in chosen or (self.is_table and field.is_required):
                expected = " or ".join(map(repr, filter(None, names)))
                raise ValueError(
                    f"there is no {expected}, only "
                    f"{', '.join(map(repr, row))}; set --text_column to the "
                    "column of the text"
                )
        return columns


def _to_text(name: str, cell: object) -> object:
    """Returns the value of a field. An empty cell is an empty text."""
    return "" if cell is None and name not in LIST_FIELDS else cell


def _guess_and_log_column(row: Mapping[str, object]) -> str | None:
    """Returns the column whose name is usual for a text, and logs it."""
    column = find_usual_columns(row)["text_column"]
    if column:
        message = "The column of the text is %r"
        logging.log_first_n(logging.INFO, message, 1, column)
    return column
