"""Writes answers as JSON lines."""

import datetime
import functools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

from data.outputs.output_rows import OutputRow, OutputSchema


def write_jsonl(
    batches: Iterable[Sequence[OutputRow]],
    output: IO[bytes],
    schema: OutputSchema | None = None,
) -> None:
    """Writes the answers as JSON lines, batch by batch.

    Args:
        batches: the rows to write, in batches as they are answered.
        output: open file to which the rows are written.
        schema: not used, because every line names its fields.
    """
    for rows in batches:
        output.writelines(to_json_line(row.cells) for row in rows)
        output.flush()


def to_json_line(cells: Mapping[str, object]) -> bytes:
    """Returns a dict as a line of JSON in UTF-8.

    A copied column may contain what JSON lacks: a number that is not finite
    becomes null, and other values become text.
    """
    # UTF-8 cannot encode a lone surrogate, which an id may contain. Write it as
    # JSON's escape.
    return to_json(cells).encode("utf-8", "backslashreplace") + b"\n"


def to_json(value: object) -> str:
    """Returns a value as JSON.

    Raises:
        RecursionError: the value is nested too deeply for Python's JSON writer,
            although Python's reader may accept it.
    """
    encode = functools.partial(
        json.dumps, ensure_ascii=False, default=to_text, allow_nan=False
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


def to_text(value: object) -> str:
    """Returns the text of a cell, which may be of any type in Parquet."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def is_writable(value: object) -> bool:
    """Returns whether a value can be written as JSON.

    Python's JSON reader accepts deeper nesting than Python's writer.
    """
    try:
        to_json(value)
    except RecursionError:
        return False
    return True
