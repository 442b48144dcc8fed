"""Writes the rows of predictions as JSON lines or CSV.

A cell that CSV cannot show, such as a list, is written as JSON.
"""

import csv
import datetime
import functools
import io
import itertools
import json
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, cast

from data.predictions.output_rows import (
    OutputRow,
    OutputSchema,
    RowStatus,
    flatten_prediction,
)
from files.json_files import parse_json


def write_jsonl(
    batches: Iterable[Sequence[OutputRow]],
    output: IO[bytes],
    schema: OutputSchema | None = None,
) -> None:
    """Writes the predictions as JSON lines, batch by batch.

    Args:
        batches: the rows to write, in batches as they are predicted.
        output: open file to which the rows are written.
        schema: not used, because every line names its fields.
    """
    for rows in batches:
        output.writelines(to_json_line(row.cells) for row in rows)
        output.flush()


def write_csv(
    batches: Iterable[Sequence[OutputRow]],
    output: IO[bytes],
    schema: OutputSchema | None = None,
) -> None:
    """Writes the predictions as CSV.

    The header repeats a name that the table repeats.

    Args:
        batches: the rows to write, in batches as they are predicted.
        output: open file to which the rows are written.
        schema: the columns. If None, the rows determine the columns.
    """
    rows = itertools.chain.from_iterable(batches)
    if schema:
        _write_table(schema.columns, map(_to_cells, rows), output)
    else:
        _write_csv_without_schema(rows, output)


def _write_csv_without_schema(
    rows: Iterable[OutputRow], output: IO[bytes]
) -> None:
    """Writes predictions as CSV, after a temporary file stored all of them.

    Only all predictions together show the columns.
    """
    columns: dict[str, None] = {}
    error_columns: dict[str, None] = {}
    with tempfile.TemporaryFile() as lines:
        for row in rows:
            cells = _to_cells(row)
            has_failed = row.status == RowStatus.FAILED
            names = error_columns if has_failed else columns
            names |= dict.fromkeys(cells)
            lines.write(to_json_line(cells))
        columns |= error_columns
        lines.seek(0)
        # `_to_cells` returned what the lines contain.
        cells_of_rows = (
            cast("dict[str, str]", parse_json(line, "a row")) for line in lines
        )
        # The table may repeat the names of columns.
        header = {key: getattr(key, "name", key) for key in columns}
        _write_table(header, cells_of_rows, output)


def _to_cells(row: OutputRow) -> dict[str, str]:
    cells = flatten_prediction(row.cells)
    return {key: _to_cell(value) for key, value in cells.items()}


def _write_table(
    columns: Mapping[str, str],
    rows: Iterable[Mapping[str, str]],
    output: IO[bytes],
) -> None:
    """Writes a header and rows as CSV.

    Lone surrogates are escaped. An id may contain them, but UTF-8 cannot encode
    them.
    """
    text = io.TextIOWrapper(output, "utf-8", "backslashreplace", newline="")
    writer = csv.writer(text, lineterminator="\n")
    if columns:
        writer.writerow(columns.values())
    for cells in rows:
        writer.writerow([cells.get(key, "") for key in columns])
    text.detach()


def _to_cell(value: object) -> str:
    """Returns the text of a value in CSV."""
    if value is None:
        return ""
    if isinstance(value, list | tuple | dict | bool):
        try:
            return _to_json(value)
        except RecursionError:
            return "nested too deeply"
    return _to_text(value)


def to_json_line(cells: Mapping[str, object]) -> bytes:
    """Returns a dict as a line of JSON in UTF-8.

    A copied column may contain what JSON lacks: a number that is not finite
    becomes null, and other values become text.
    """
    # UTF-8 cannot encode a lone surrogate, which an id may contain. Write it as
    # JSON's escape.
    return _to_json(cells).encode("utf-8", "backslashreplace") + b"\n"


def is_writable(value: object) -> bool:
    """Returns whether a value can be written as JSON.

    Python's JSON reader accepts deeper nesting than Python's writer.
    """
    try:
        _to_json(value)
    except RecursionError:
        return False
    return True


def _to_json(value: object) -> str:
    """Returns a value as JSON.

    Raises:
        RecursionError: the value is nested too deeply for Python's JSON writer,
            although Python's reader may accept it.
    """
    encode = functools.partial(
        json.dumps, ensure_ascii=False, default=_to_text, allow_nan=False
    )
    try:
        return encode(value)
    except ValueError:
        return encode(_with_null(value))


def _with_null(value: object) -> object:
    """Returns a value with null instead of numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _with_null(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_with_null, value)]
    return value


def _to_text(value: object) -> str:
    """Returns the text of a cell, which may be of any type in Parquet."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
