"""Writes rows of answers as JSON lines, CSV or npy."""

import contextlib
import csv
import datetime
import functools
import gzip
import io
import itertools
import json
import math
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any

import numpy as np

from files.atomic import atomic_open
from files.json_files import parse_json
from files.paths import StrPath, named_errors
from serving.tasks.base import Reply

# Formats of answers. A format is also the extension of the output file's name.
FORMS = ("jsonl", "csv", "npy")
# Other formats of tables, which a user might expect to get by their extension.
_OTHER_TABLES = (".tsv", ".parquet", ".xlsx")
# Numeric fields of answers. If answers have several fields, an npy file stores
# the first of these that the first answer contains.
_NUMBERS = "mean_normalized", "mean", "probabilities", "value", "probability"


class Failed(dict[str, Any]):
    """The row of a request that failed. It contains `line` and `error`."""


class Empty(dict[str, Any]):
    """The row of a request without text, which has no answer."""


def find_form(form: str | None, path: StrPath | None) -> str:
    """Returns the output format: `form`, or the format for `path`'s extension.

    If `form` is None and the extension is unknown, returns "jsonl".

    Raises:
        ValueError: `form` is None, and the extension belongs to a table in a
            format that cannot be written.
    """
    name = str(path).removesuffix(".gz")
    if not form and name.endswith(_OTHER_TABLES):
        raise ValueError(
            f"--output_file={path} must end in .{', .'.join(FORMS)}. Or set "
            "--output_format"
        )
    of_name = [each for each in FORMS if name.endswith(f".{each}")]
    return form or [*of_name, "jsonl"][0]


def to_json_line(answer: Mapping[str, Any]) -> bytes:
    """Returns a dict as a line of JSON in UTF-8.

    A copied column may contain what JSON lacks: a number that is not finite
    becomes null, and other values become text.
    """
    # UTF-8 cannot encode a lone surrogate, which an id may contain. Write it as
    # JSON's escape.
    return _to_json(answer).encode("utf-8", "backslashreplace") + b"\n"


def _to_json(value: object) -> str:
    encode = functools.partial(
        json.dumps, ensure_ascii=False, default=_to_text, allow_nan=False
    )
    try:
        return encode(value)
    except ValueError:
        return encode(_with_null(value))


def _with_null(value: object) -> object:
    # Replaces numbers that are not finite.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {name: _with_null(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_with_null, value)]
    return value


def _to_text(value: Any) -> str:  # noqa: ANN401  a cell of Parquet of any type
    is_time = isinstance(value, datetime.date | datetime.time)
    return value.isoformat() if is_time else str(value)


def _to_cell(value: object) -> str:
    # Returns the text of a value in CSV.
    if value is None:
        return ""
    if isinstance(value, list | tuple | dict | bool):
        try:
            return _to_json(value)
        except RecursionError:
            return "nested too deeply"
    return _to_text(value)


def is_writable(value: object) -> bool:
    """Returns whether a value can be written as JSON.

    Python may read JSON that is nested too deeply for its writer.
    """
    try:
        _to_json(value)
    except RecursionError:
        return False
    return True


def write(
    path: str | None,
    form: str,
    batches: Iterable[list[Reply]],
    complete: Callable[[], None] = lambda: None,
) -> Counter[type]:
    """Writes answers. Returns the numbers of rows: dict, Empty and Failed.

    Args:
        path: file to write, compressed if its name ends in `.gz`. It gets this
            name only when it is complete. None is standard output. Standard
            output, pipes and devices get JSON lines batch by batch.
        form: format of the output, one of FORMS.
        batches: the rows that `answering.answer` yields.
        complete: function that is called before the file gets its name.

    Raises:
        OSError: the file cannot be written.
        ValueError: an array cannot store the answers.
    """
    counts = Counter[type]()

    def count() -> Iterator[list[Reply]]:
        for rows in batches:
            yield rows
            counts.update(map(type, rows))

    with _open(path) as output:
        if form == "jsonl":
            for rows in count():
                output.writelines(map(to_json_line, rows))
                output.flush()
        else:
            each = itertools.chain.from_iterable(count())
            (write_csv if form == "csv" else write_npy)(each, output)
        complete()
    return counts


@contextlib.contextmanager
def _open(path: str | None) -> Iterator[IO[bytes]]:
    """Opens the output, which appears complete or not at all."""
    if path is None:
        with named_errors("standard output"):
            yield sys.stdout.buffer
        return
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(atomic_open(path))
        if path.endswith(".gz"):
            # Omit the time from the gzip header, so that equal answers produce
            # equal files.
            packed: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            file = stack.enter_context(packed)
        yield file


def write_npy(rows: Iterable[Reply], output: IO[bytes]) -> None:
    """Writes one field of all answers as float32 [rows, ...].

    The field is the only one of the first answer, or the first in _NUMBERS that
    the first answer contains. The values of a row without an answer are NaN.

    The number of rows is known at the end, and stands in front of them. So a
    pipe or a packed file gets the rows from a temporary file.

    Raises:
        ValueError: the field is not numeric, or its shape changes.
    """
    with contextlib.ExitStack() as stack:
        file = output
        if not _is_local(output):
            file = stack.enter_context(tempfile.TemporaryFile())
        name = ""
        shape: tuple[int, ...] | None = None
        num_rows = 0
        for row in rows:
            if not name and row and not isinstance(row, Failed):
                name = _find_number(row)
            value = row.get(name)
            value = [*value.values()] if isinstance(value, dict) else value
            number = None if value is None else np.array(value, "<f4")
            if number is not None and shape is None:
                shape = number.shape
                _write_header(file, (num_rows, *shape))
                file.write(_unknown(num_rows, shape))
            if number is not None and number.shape != shape:
                raise ValueError(
                    f"{name!r} is not always of one shape. Set "
                    "--output_format=jsonl"
                )
            if number is not None:
                file.write(number.tobytes())
            elif shape is not None:
                file.write(_unknown(1, shape))
            num_rows += 1
        if shape is None:
            shape = ()
            _write_header(file, (num_rows,))
            file.write(_unknown(num_rows, shape))
        file.seek(0)
        _write_header(file, (num_rows, *shape))
        if file is not output:
            file.seek(0)
            shutil.copyfileobj(file, output, 1 << 20)


def _find_number(row: Reply) -> str:
    # Returns the name of the field that an array stores.
    numeric = [x for x in _NUMBERS if x in row]
    if len(row) != 1 and not numeric:
        raise ValueError(
            "npy stores one numeric field: set --output_fields to one "
            f"of {', '.join(row)}"
        )
    return [*numeric, *row][0]


def _is_local(file: IO[bytes]) -> bool:
    # Returns whether the beginning of a file can be written at the end.
    is_plain = isinstance(file, io.BufferedWriter) and file.seekable()
    return is_plain and file is not sys.stdout.buffer


def _unknown(num_rows: int, shape: tuple[int, ...]) -> bytes:
    # Returns rows without an answer.
    return np.full(shape, np.nan, "<f4").tobytes() * num_rows


def _write_header(file: IO[bytes], shape: tuple[int, ...]) -> None:
    # NumPy pads the header, so that its size does not depend on the number of
    # rows.
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def write_csv(rows: Iterable[Reply], output: IO[bytes]) -> None:
    """Writes the answers as CSV.

    A temporary file stores the answers, because the columns are known only when
    all rows are answered. The header repeats a name that the table repeats.
    """
    columns: dict[str, None] = {}
    of_errors: dict[str, None] = {}
    with tempfile.TemporaryFile() as lines:
        for row in rows:
            names = of_errors if isinstance(row, Failed) else columns
            cells = {k: _to_cell(v) for k, v in _flatten(row).items()}
            names |= dict.fromkeys(cells)
            lines.write(to_json_line(cells))
        columns |= of_errors
        # Escape lone surrogates. An id may contain them, but UTF-8 cannot
        # encode them.
        text = io.TextIOWrapper(output, "utf-8", "backslashreplace", newline="")
        writer = csv.writer(text, lineterminator="\n")
        if columns:
            # The table may repeat the names of columns.
            header = (getattr(key, "name", key) for key in columns)
            writer.writerow(header)
        lines.seek(0)
        for line in lines:
            cells = parse_json(line, "an answer")
            writer.writerow([cells.get(name, "") for name in columns])
        text.detach()


def _flatten(answer: Reply) -> Reply:
    """Flattens an answer to a row: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: Reply = {}
    for name, value in answer.items():
        if isinstance(value, dict) and name != "id":
            row |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            row[name] = value
    return row
