"""Reads requests from tables, JSON lines or text.

If a row cannot be read, reading continues with the next row.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from data.io import tables
from files.paths import named_errors
from serving.tasks.base import TextTask

_DEFAULT = tables.Layout()


class Item(NamedTuple):
    """A request, and its position in the input.

    Attributes:
        line: number of the request's first line, or of its row in Parquet.
        request: the request, {} if its row cannot be read.
        error: why the row cannot be read, or None.
        file: name of the file if there are several files, else "".
        row: cells of the row that the request comes from, {} for plain text.
    """

    line: int
    request: dict[str, Any]
    error: ValueError | None = None
    file: str = ""
    row: Mapping[str, Any] = {}

    def __str__(self) -> str:
        """Returns "FILE, line N", or "line N" without a file."""
        return f"{self.file}, line {self.line}".removeprefix(", ")


def read(
    task: TextTask,
    paths: Sequence[str],
    columns: Sequence[str | None] = (),
    layout: tables.Layout = _DEFAULT,
    trained_columns: Sequence[str | None] = (),
) -> Iterator[Item]:
    """Yields an unchecked Item for each row of the files.

    A blank line is a row only in plain text.

    Args:
        task: task that will answer the requests.
        paths: paths of the files, or text_files.STDIN for standard input.
        columns: names of the columns to read for the task's first field, second
            field, and so on. None reads the column with the field's own name.
        layout: how the files are written.
        trained_columns: names like `columns`, of the table that the model was
            trained on. They are read if `columns` is None and they exist.

    Raises:
        OSError: a file cannot be read.
        ValueError: a column is missing, or an unclosed quote spans lines.
    """
    if len(columns) > len(task.fields) and columns[-1]:
        raise ValueError(
            f"--text_b_column={columns[-1]}: the only fields of "
            f"{task.name} are {', '.join(task.fields)}; omit the flag"
        )
    chosen = {
        field: column
        for field, column in zip(task.fields, columns, strict=False)
        if column
    }
    trained = {
        field: column
        for field, column in zip(task.fields, trained_columns, strict=False)
        if column not in (None, "text") and field not in task.lists
    }
    # If the columns are chosen by number, the first line is no header.
    by_number = chosen and all(map(str.isdecimal, chosen.values()))
    for path in paths:
        form = layout.form or tables.form_of(path)
        is_table = form not in ("jsonl", "text", None)
        needed = [
            [chosen[field]]
            if field in chosen
            else [*_names_of(task, field), *filter(None, [trained.get(field)])]
            for field, is_needed in task.fields.items()
            if field in chosen or (is_table and is_needed)
        ]
        rows = tables.read_rows(
            path, layout._replace(form=form, has_header=not by_number)
        )
        file = path if len(paths) > 1 else ""
        with named_errors(path):
            for number, row in rows:
                if isinstance(row, ValueError):
                    yield Item(number, {}, row, file)
                    continue
                is_plain = form in (None, "text") and [*row] == ["text"]
                for names in needed if not is_plain else ():
                    if row.keys().isdisjoint(names):
                        error = ValueError(
                            f"there is no {' or '.join(map(repr, names))}, "
                            f"only {', '.join(map(repr, row))}"
                        )
                        if is_table:
                            raise ValueError(f"{path}: {error}")
                        yield Item(number, {}, error, file, row)
                        break
                else:
                    request = _to_request(task, row, trained | chosen, is_table)
                    kept = {} if is_plain else row
                    yield Item(number, request, None, file, kept)


def _names_of(task: TextTask, field: str) -> list[str]:
    return [field, *task.other_names.get(field, ())]


def _to_request(
    task: TextTask,
    row: Mapping[str, Any],
    chosen: Mapping[str, str],
    is_table: bool,
) -> dict[str, Any]:
    """Converts a row, {column: cell}, to a request.

    `chosen` is {field: its column}. In a table, empty cells are omitted, and
    the field `words` is split at white space.
    """
    request = {
        name: cell
        for name, cell in row.items()
        if not (is_table and cell is None)
    }
    # Plain text contains no columns that a flag can select.
    chosen = {k: column for k, column in chosen.items() if column in row}
    for field, column in chosen.items():
        # The flag overrides columns that are named like the field.
        for name in (column, *_names_of(task, field)):
            request.pop(name, None)
    request |= {field: row[column] for field, column in chosen.items()}
    if is_table and isinstance(request.get("words"), str):
        request["words"] = request["words"].split()
    return request
