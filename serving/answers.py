"""Answers requests, and writes the answers as JSON lines, CSV or npy."""

import contextlib
import csv
import datetime
import functools
import gzip
import io
import itertools
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from absl import logging

from command_line.progress import Progress
from data.io import tables
from files.atomic import atomic_open
from files.json_files import parse_json
from files.paths import StrPath, named_errors
from serving.models import TextModel
from serving.requests import Item
from serving.tasks.base import Reply, TaskOptions, TextTask

# Formats of answers. A format is also the extension of the output file's name.
FORMS = ("jsonl", "csv", "npy")
# Other formats of tables, which a user might expect to get by their extension.
_OTHER_TABLES = (".tsv", ".parquet", ".xlsx")
# Numeric fields of answers. If answers have several fields, an npy file stores
# the first of these that the first answer contains.
_NUMBERS = "mean_normalized", "mean", "probabilities", "value", "probability"
# Maximum number of errors that are logged. The output contains all errors.
_MAX_LOGGED = 10


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


def answer(
    model: TextModel,
    task: TextTask,
    options: TaskOptions,
    items: Iterator[Item],
    batch_size: int = 32,
    fields: Sequence[str] = (),
    keeps_columns: bool = True,
) -> Iterator[list[Reply]]:
    """Yields batches of rows: the input's columns, then an answer or an error.

    A field of the answer whose name is a column's begins with `predicted_`.

    Args:
        model: model that answers the requests.
        task: task of the model.
        options: options of the task.
        items: the requests.
        batch_size: number of requests in a batch.
        fields: names of the fields of a reply to keep, () for all fields.
        keeps_columns: whether to keep the columns of the input.

    Raises:
        ValueError: the first reply lacks one of the fields.
    """
    num_errors = 0
    is_checked = False
    if keeps_columns:
        items = map(_checked, items)
    while batch := [*itertools.islice(items, batch_size)]:
        asked = [item.request for item in batch if not item.error]
        replies = iter(task.ask(model, asked, options))
        rows: list[Reply] = []
        for item in batch:
            reply = item.error or next(replies)
            row = dict(item.row) if keeps_columns else {}
            if isinstance(reply, ValueError):
                num_errors += 1
                if num_errors <= _MAX_LOGGED:
                    logging.warning("%s: %s", item, reply)
                rows.append(_create_failed(row, item, reply))
            elif not reply:
                rows.append(Empty(row))
            else:
                # Later replies may lack an optional field.
                if not is_checked:
                    _check_fields(fields, reply)
                    is_checked = True
                rows.append(_create_answered(row, reply, task, fields))
        yield rows


def _check_fields(fields: Sequence[str], reply: Reply) -> None:
    if not {*fields} <= {*reply}:
        raise ValueError(
            f"--output_fields={','.join(fields)}: choose from "
            f"{', '.join(reply)}"
        )


def _create_answered(
    row: Reply, reply: Reply, task: TextTask, fields: Sequence[str]
) -> Reply:
    # A reply may repeat the texts or the words of its request.
    sent = [x for x in (*task.fields, "words") if x in reply]
    repeated = {x for x in sent if row.get(x) == reply[x]}
    chosen = [x for x in fields or reply if x not in repeated]
    kept = {name: reply[name] for name in chosen if name in reply}
    return tables.add_answer(row, kept)


def _create_failed(row: Reply, item: Item, error: ValueError) -> Failed:
    fields: Reply = {"file": item.file} if item.file else {}
    fields |= {"line": item.line, "error": str(error)}
    return Failed(tables.add_answer(row, fields))


def _checked(item: Item) -> Item:
    # Finds a row that cannot be copied before it is answered.
    nested = [x for x in item.row.values() if isinstance(x, list | dict)]
    if _is_writable(nested):
        return item
    error = ValueError("a column is nested too deeply")
    return item._replace(error=error, row={})


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


def _is_writable(value: object) -> bool:
    # Python may read JSON that is nested too deeply for its writer.
    try:
        _to_json(value)
    except RecursionError:
        return False
    return True


def write(
    path: str | None,
    form: str,
    batches: Iterable[list[Reply]],
    num_rows: int | None,
) -> Counter[type]:
    """Writes answers. Returns the numbers of rows: dict, Empty and Failed.

    Args:
        path: file to write, compressed if its name ends in `.gz`. It gets this
            name only when it is complete. None is standard output. Standard
            output, pipes and devices get JSON lines batch by batch.
        form: format of the output, one of FORMS.
        batches: the rows that `answer` yields.
        num_rows: number of rows in all batches, or None if unknown.

    Raises:
        OSError: the file cannot be written.
        ValueError: an array cannot store the answers.
    """
    counts = Counter[type]()

    def track() -> Iterator[list[Reply]]:
        # Counts the rows, and shows a progress bar.
        with Progress(num_rows, 0, "row", 1, "Predicting") as progress:
            for rows in batches:
                yield rows
                for row in rows:
                    counts[type(row)] += 1
                if path and progress.due(counts.total()):
                    progress.update(counts.total())

    with _open(path) as output:
        if form == "jsonl":
            for rows in track():
                output.writelines(map(to_json_line, rows))
                output.flush()
        else:
            each = (row for rows in track() for row in rows)
            (write_csv if form == "csv" else write_npy)(each, output)
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

    Raises:
        ValueError: the field is not numeric, or its shape changes.
    """
    name = ""
    numbers: list[np.ndarray | None] = []
    shapes: set[tuple[int, ...]] = set()
    for row in rows:
        if not name and row and not isinstance(row, Failed):
            numeric = [x for x in _NUMBERS if x in row]
            if len(row) != 1 and not numeric:
                raise ValueError(
                    "npy stores one numeric field: set --output_fields to one "
                    f"of {', '.join(row)}"
                )
            name = [*numeric, *row][0]
        value = row.get(name)
        value = [*value.values()] if isinstance(value, dict) else value
        number = None if value is None else np.array(value, "<f4")
        if number is not None:
            # Stop at once, not when all rows are answered.
            shapes.add(number.shape)
        if len(shapes) > 1:
            raise ValueError(
                f"{name!r} is not always of one shape. Set "
                "--output_format=jsonl"
            )
        numbers.append(number)
    unknown = np.full(next(iter(shapes), ()), np.nan)
    array = np.array([unknown if x is None else x for x in numbers], "<f4")
    # np.save cannot write to a pipe.
    header = {"descr": "<f4", "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(output, header)
    output.write(array.data)


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
