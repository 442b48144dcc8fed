"""Requests from JSON lines or CSV, and answers as JSON lines: see predict.py.

A bad line does not stop others.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from files.json_files import parse_json

MAX_LINE_BYTES = 1 << 24
# Marks a gap in the text of a request.
MASK = "[MASK]"

# The number of a line, and its request or error.
Numbered = tuple[int, dict[str, Any] | ValueError]


def read_json_lines(file: IO[bytes]) -> Iterator[Numbered]:
    """Yields the request of each line, numbered from 1; blank ones are skipped.

    Args:
        file: JSON objects, one a line, in UTF-8.
    """
    number = 0
    while line := file.readline(MAX_LINE_BYTES):
        number += 1
        if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)
            limit = f"{MAX_LINE_BYTES >> 20} MiB"
            yield (
                number,
                ValueError(f"the line has more than {limit}; shorten it"),
            )
        elif line.strip():
            try:
                yield number, parse_json(line, "the request")
            except ValueError as error:
                yield number, error


def read_csv(file: IO[bytes]) -> Iterator[Numbered]:
    """Yields the request of each row, numbered by its last line.

    Args:
        file: comma-separated values in UTF-8. The first row names the columns
            like the keys of a JSON request; `words` are split at white space.

    Raises:
        ValueError: the first row is not CSV, or names a column twice.
    """
    csv.field_size_limit(MAX_LINE_BYTES)
    # Bytes that are not UTF-8 become lone surrogates, refused by row.
    rows = csv.reader(
        io.TextIOWrapper(
            file, "utf-8-sig", errors="surrogateescape", newline=""
        )
    )
    try:
        names = next(rows, [])
    except csv.Error as error:
        raise ValueError(f"line 1: not CSV: {error}") from error
    if len({*names}) < len(names):
        raise ValueError(f"line 1: a column is named twice: {', '.join(names)}")
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield rows.line_num, ValueError(f"not CSV: {error}")
            continue
        if row and len(row) != len(names):
            counts = f"{len(row)} cells, but there are {len(names)} columns"
            yield rows.line_num, ValueError(f"the row has {counts}")
        elif row:
            request: dict[str, Any] = dict(zip(names, row, strict=True))
            if "words" in request:
                request["words"] = request["words"].split()
            yield rows.line_num, request


def to_json_lines(answers: Iterable[dict[str, Any]]) -> bytes:
    """Returns dicts as JSON lines in UTF-8."""
    lines = []
    for answer in answers:
        try:
            lines.append(json.dumps(answer, ensure_ascii=False).encode())
        except UnicodeEncodeError:
            # Half of a surrogate pair in an id stays escaped.
            lines.append(json.dumps(answer).encode())
    return b"".join(line + b"\n" for line in lines)
