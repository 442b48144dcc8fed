"""Requests: read from JSON lines or CSV, and checked. Answers: written as JSON.

A bad line does not stop others: see predict.py.
"""

import csv
import io
import json
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import IO, Any

import numpy as np

from files.json_files import parse_json
from files.named_errors import named_errors

MAX_LINE_BYTES = 1 << 24
# Maximum bytes of the texts in a batch; a longer line is a batch of its own.
_MAX_BATCH_BYTES = 1 << 20
# Marks a gap in the text of a request.
MASK = "[MASK]"

# A text, or several of them.
Texts = str | Sequence[str]
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


def read_batches(
    numbered: Iterable[Numbered], path: str, batch_size: int
) -> Iterator[list[Numbered]]:
    """Yields lists of requests: all that have arrived, at least one.

    A thread reads, so that a line on a pipe is answered when it arrives, and
    lines that arrive meanwhile are answered together.

    Args:
        numbered: requests with the numbers of their lines.
        path: name of the file that they are read from, for errors.
        batch_size: maximum requests in a list.
    """
    waiting: queue.Queue[Numbered | None] = queue.Queue(maxsize=batch_size)
    failures = []

    def read() -> None:
        try:
            with named_errors(path):
                for item in numbered:
                    waiting.put(item)
        except Exception as error:
            failures.append(error)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    while (item := waiting.get()) is not None:
        batch, size = [item], _size(item)
        while (
            len(batch) < batch_size
            and not waiting.empty()
            and size < _MAX_BATCH_BYTES
        ):
            if (item := waiting.get()) is None:
                # For the outer loop; nothing else comes any more.
                waiting.put(None)
                break
            batch.append(item)
            size += _size(item)
        yield batch
    for failure in failures:
        raise failure


def _size(item: Numbered) -> int:
    """Returns the approximate bytes of the texts of a request."""
    if isinstance(item[1], ValueError):
        return 0
    return sum(len(text) for text in item[1].values() if isinstance(text, str))


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


def check_text(field: str, value: Any) -> None:
    """Checks that a field of a request is text.

    Raises:
        ValueError: it is not valid text.
    """
    if not isinstance(value, str):
        raise ValueError(
            f"{field!r} must be a text. Received: {repr(value)[:80]}"
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Bytes that are not UTF-8 are read as lone surrogates.
        if "\udc80" <= value[error.start] <= "\udcff":
            raise ValueError(f"{field!r} is not UTF-8") from None
        raise ValueError(
            f"{field!r} holds half of a surrogate pair, which is no character"
        ) from None


def as_texts(name: str, texts: Any) -> Texts:
    """Returns a text, or several of them as a list.

    Args:
        name: the argument's name, for the message.
        texts: a text, or anything that lists texts in an order.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(texts, str):
        return texts
    is_list = isinstance(texts, Iterable)
    is_list &= not isinstance(texts, bytes | Mapping | Set)
    values: list[Any] = [*texts] if is_list else [None]
    if all(isinstance(value, str) for value in values):
        return values
    raise TypeError(
        f"{name} must be a text or a list of texts. "
        f"Received: {repr(texts)[:80]}"
    )


def listed(names: Iterable[str]) -> str:
    """Returns names, sorted, as a message lists them."""
    return ", ".join(sorted(names))


def to_number(value: float) -> float:
    """Returns a float of 6 significant digits.

    Raises:
        ValueError: JSON cannot represent it.
    """
    if not np.isfinite(value):
        raise ValueError(
            f"the model gives {value}, which is not a finite number; its "
            "weights or its precision must be wrong"
        )
    return float(f"{value:.6g}")
