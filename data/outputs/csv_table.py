"""Writes answers as CSV."""

import csv
import io
import itertools
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

from data.outputs.jsonl import to_json, to_json_line, to_text
from data.outputs.output_rows import (
    OutputRow,
    OutputSchema,
    RowStatus,
    flatten_answer,
)
from files.json_files import parse_json


def write_csv(
    batches: Iterable[Sequence[OutputRow]],
    output: IO[bytes],
    schema: OutputSchema | None = None,
) -> None:
    """Writes the answers as CSV.

    Without a schema, a temporary file stores the answers, because the columns
    are known only when all rows are answered. The header repeats a name that
    the table repeats.

    Args:
        batches: the rows to write, in batches as they are answered.
        output: open file to which the rows are written.
        schema: the columns. None = the rows determine the columns.
    """
    rows = itertools.chain.from_iterable(batches)
    if schema:
        cells_of_rows = (_to_cells(row) for row in rows)
        _write_table(schema.columns, cells_of_rows, output)
        return
    columns: dict[str, None] = {}
    error_columns: dict[str, None] = {}
    with tempfile.TemporaryFile() as lines:
        for row in rows:
            cells = _to_cells(row)
            failed = row.status == RowStatus.FAILED
            names = error_columns if failed else columns
            names |= dict.fromkeys(cells)
            lines.write(to_json_line(cells))
        columns |= error_columns
        lines.seek(0)
        cells_of_rows = (parse_json(line, "an answer") for line in lines)
        # The table may repeat the names of columns.
        header = {key: getattr(key, "name", key) for key in columns}
        _write_table(header, cells_of_rows, output)


def _to_cells(row: OutputRow) -> dict[str, str]:
    cells = flatten_answer(row.cells)
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
            return to_json(value)
        except RecursionError:
            return "nested too deeply"
    return to_text(value)
