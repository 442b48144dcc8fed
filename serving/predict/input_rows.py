"""Reads the requests in files or arguments as input rows.

An `InputRow` is a request with the columns of its row.
"""

import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from data.tables import file_ranges
from data.tables.file_ranges import FileRange
from data.tables.rows import NumberedRow
from data.tables.table_layout import TableLayout, format_of
from files.paths import explain_file_errors
from serving.predict.request_columns import RequestColumns, RequestParser
from serving.text_tasks.request_fields import Request
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
    """Returns the requests in the texts of the command line."""
    numbered = enumerate(to_requests(text_task, texts), start=1)
    return [InputRow(row_number, request) for row_number, request in numbered]


def to_requests(text_task: AnyTextTask, texts: Sequence[str]) -> list[Request]:
    """Converts the texts of the command line to requests.

    If the text task has one field, each text is a request. Otherwise the texts
    become the fields of one request, in order. If the last field is a list, it
    contains all remaining texts.

    Raises:
        ValueError: there are too few or too many texts.
    """
    names = text_task.field_names
    if len(names) == 1:
        return [{names[0]: text} for text in texts]
    values: list[object] = [*texts]
    if text_task.fields[-1].is_list and len(texts) > 1:
        values = [texts[0], [*texts[1:]]]
    num_required = sum(field.is_required for field in text_task.fields)
    if not num_required <= len(values) <= len(names):
        raise ValueError(
            f"{text_task.name}: pass these texts in this order, each in "
            f"quotes: {', '.join(names)}. Received: {values}"
        )
    return [dict(zip(names, values, strict=False))]


def read_input_rows(
    paths: Sequence[str],
    columns: RequestColumns,
    layout: TableLayout = _DEFAULT_LAYOUT,
) -> Iterator[InputRow]:
    """Yields an InputRow for each row of the files, as `read_range_rows` does.

    Args:
        paths: paths of the files, or text_files.STDIN for standard input. If
            there are several paths, the InputRows name their file.
        columns: the text task of the requests, and the columns of its fields.
        layout: how the files are written.
    """
    for path in paths:
        file = path if len(paths) > 1 else ""
        yield from read_range_rows(FileRange(path), columns, layout, file)


def read_range_rows(
    file_range: FileRange,
    columns: RequestColumns,
    layout: TableLayout,
    file: str,
) -> Iterator[InputRow]:
    """Yields an unchecked InputRow for each row of a range of a file.

    A blank line is a row only in plain text. If a row cannot be read, reading
    continues with the next row.

    Args:
        file_range: range of a file, or FileRange(path) for all of it.
        columns: the text task of the requests, and the columns of its fields.
        layout: how the file is written.
        file: name of the file in its InputRows, "" if it is the only file.

    Raises:
        OSError: the file cannot be read.
        ValueError: a column is missing, or an unclosed quote spans lines.
    """
    file_format = layout.format or format_of(file_range.path)
    parser = RequestParser(
        columns,
        is_table=file_format not in ("jsonl", "text", None),
        may_be_plain=file_format in ("text", None),
    )
    rows = file_ranges.read_range(file_range, columns.complete_layout(layout))
    for input_row in _to_input_rows(parser, rows, file_range.path):
        yield input_row._replace(file=file)


def _to_input_rows(
    parser: RequestParser, rows: Iterable[NumberedRow], path: str
) -> Iterator[InputRow]:
    """Yields an InputRow without a file for each row of the file `path`."""
    with explain_file_errors(path):
        for row_number, row in rows:
            if isinstance(row, ValueError):
                yield InputRow(row_number, {}, row)
            else:
                yield _to_input_row(parser, row_number, row, path)


def _to_input_row(
    parser: RequestParser,
    row_number: int,
    row: Mapping[str, object],
    path: str,
) -> InputRow:
    """Returns an InputRow, whose error says why the row is not a request.

    Raises a ValueError instead if the row is part of a table, because all rows
    of a table have the same columns.
    """
    try:
        request = parser.parse(row)
    except ValueError as error:
        if parser.is_table:
            raise ValueError(f"{path}: {error}") from None
        return InputRow(row_number, {}, error, cells=row)
    cells = NO_CELLS if parser.is_plain(row) else row
    return InputRow(row_number, request, cells=cells)
