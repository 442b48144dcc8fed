"""Reads requests from JSON lines or CSV; a bad line does not stop others."""

import csv
import io
from collections.abc import Iterator, Sequence
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
    for number, line in enumerate(_read_lines(file), start=1):
        if line is None:
            yield number, _too_long()
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
        if row:
            yield rows.line_num, _to_request(names, row)


def _to_request(
    names: Sequence[str], row: Sequence[str]
) -> dict[str, Any] | ValueError:
    """Returns a row's request, a dict, or a ValueError."""
    if len(row) != len(names):
        return ValueError(
            f"the row has {len(row)} cells, but there are {len(names)} columns"
        )
    request: dict[str, Any] = dict(zip(names, row, strict=True))
    if "words" in request:
        request["words"] = request["words"].split()
    return request


def _read_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yields lines, bytes; None for one that is too long."""
    while line := file.readline(MAX_LINE_BYTES):
        is_whole = len(line) < MAX_LINE_BYTES or line.endswith(b"\n")
        if is_whole:
            yield line
            continue
        del line
        while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(
            b"\n"
        ):
            pass
        yield None


def _too_long() -> ValueError:
    return ValueError(
        f"the line has more than {MAX_LINE_BYTES >> 20} MiB; shorten it"
    )
