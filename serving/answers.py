"""Answers requests, and writes the answers as JSON lines, CSV or npy."""

import contextlib
import csv
import gzip
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from absl import logging

from files.atomic import atomic_open
from files.json_files import parse_json
from files.paths import StrPath, named_errors
from files.progress import Progress
from serving.models import TextModel
from serving.requests import Item
from serving.tasks.base import Reply, Request, TaskOptions, TextTask

# Formats of answers. A format is also the extension of the output file's name.
FORMS = ("jsonl", "csv", "npy")
# Other formats of tables, which a user might expect to get by their extension.
_OTHER_TABLES = (".tsv", ".parquet", ".xlsx")
# Numeric fields of answers. If answers have several fields, an npy file stores
# the first of these that the first answer contains.
_NUMBERS = "mean_normalized", "mean", "probabilities", "value", "probability"
# Output fields of an input row that could not be answered. In CSV, they are the
# last columns.
_OF_ERRORS = ("file", "line", "error")
# Maximum number of errors that are logged. The output contains all errors.
_MAX_LOGGED = 10


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
    found = [each for each in FORMS if name.endswith(f".{each}")]
    return form or [*found, "jsonl"][0]


class Answerer:
    """Answers batches of requests, and counts the answers.

    Args:
        model: model that answers the requests.
        task: task of the model.
        options: options of the task.
        fields: names of the fields of a reply to write, or None for all fields.

    Attributes:
        num_answers: number of requests with an answer.
        num_errors: number of requests with an error instead.
    """

    def __init__(
        self,
        model: TextModel,
        task: TextTask,
        options: TaskOptions,
        fields: Sequence[str] | None = None,
    ) -> None:
        self._model, self._task, self._options = model, task, options
        self._fields = fields
        self.num_answers = self.num_errors = 0

    def answer(self, batch: Sequence[Item]) -> Iterator[Reply]:
        """Yields, for each request, its id and the answer or the error.

        Raises:
            ValueError: the first reply lacks one of the fields.
        """
        errors = [
            item.error
            or self._task.has_no_text(item.request)
            or _attempt(self._task.check, item.request)
            for item in batch
        ]
        pairs = [*zip(batch, errors, strict=True)]
        good = [item.request for item, error in pairs if not error]
        replies = iter(self._reply(good))
        for item, error in pairs:
            # Answer an empty text by an empty answer.
            reply = {} if error is True else error or next(replies)
            row: Reply = {}
            if "id" in item.request:
                row = {"id": item.request["id"]}
            if isinstance(reply, dict):
                yield row | (self._select(reply) if reply else {})
                self.num_answers += 1
                continue
            self.num_errors += 1
            if self.num_errors <= _MAX_LOGGED:
                logging.warning("%s: %s", item, reply)
            row |= {"file": item.file} if item.file else {}
            yield row | {"line": item.line, "error": str(reply)}

    def _select(self, reply: Reply) -> Reply:
        if self._fields is None:
            return reply
        kept = {name: reply[name] for name in self._fields if name in reply}
        # Later replies may lack an optional field.
        if not self.num_answers and len(kept) < len(self._fields):
            raise ValueError(
                f"--output_fields={','.join(self._fields)}: choose from "
                f"{', '.join(reply)}"
            )
        return kept

    def _reply(self, requests: list[Request]) -> list[Reply | ValueError]:
        """Returns a reply or a ValueError for each request.

        If the model fails on the batch, runs it on each request separately.
        """
        replies = _attempt(self._model.ask, self._task, requests, self._options)
        if not isinstance(replies, ValueError):
            return replies
        if len(requests) == 1:
            return [replies]
        return [reply for each in requests for reply in self._reply([each])]


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the result of a function, or the ValueError that it raises."""
    try:
        return function(*arguments)
    except ValueError as error:
        return error


def to_json_line(answer: Mapping[str, Any]) -> bytes:
    """Returns a dict as a line of JSON in UTF-8."""
    try:
        return json.dumps(answer, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        # UTF-8 cannot encode a lone surrogate, which an id may contain. Without
        # ensure_ascii=False, json.dumps escapes it.
        return json.dumps(answer).encode() + b"\n"


def write(
    path: str | None,
    form: str,
    answerer: Answerer,
    batches: Iterable[Sequence[Item]],
    num_rows: int | None,
) -> None:
    """Answers batches of requests, and writes the answers.

    Args:
        path: file to write, compressed if its name ends in `.gz`. It gets this
            name only when it is complete. None is standard output. Standard
            output, pipes and devices get JSON lines batch by batch.
        form: format of the output, one of FORMS.
        answerer: Answerer that answers the batches.
        batches: all batches of requests.
        num_rows: number of rows in all batches, or None if unknown.

    Raises:
        OSError: the file cannot be written.
        ValueError: `answerer` fails, or an array cannot store the answers.
    """
    is_stream = path is None or (
        os.path.exists(path) and not os.path.isfile(path)
    )
    with _open(path) as output:
        if form == "jsonl" and is_stream:
            for batch in batches:
                output.writelines(map(to_json_line, answerer.answer(batch)))
                output.flush()
            return
        rows = _track(answerer, batches, num_rows)
        if form == "jsonl":
            output.writelines(map(to_json_line, rows))
        else:
            (write_csv if form == "csv" else write_npy)(rows, output)


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


def _track(
    answerer: Answerer,
    batches: Iterable[Sequence[Item]],
    num_rows: int | None,
) -> Iterator[Reply]:
    """Yields all answers, and shows a progress bar."""
    done = 0
    with Progress(num_rows, 0, "row", 1, "Predicting") as progress:
        for batch in batches:
            yield from answerer.answer(batch)
            done += len(batch)
            if progress.due(done):
                progress.update(done)


@contextlib.contextmanager
def _temporary_file() -> Iterator[IO[bytes]]:
    folder = tempfile.gettempdir()
    with named_errors(folder), tempfile.TemporaryFile() as file:
        yield file


def write_npy(rows: Iterable[Reply], output: IO[bytes]) -> None:
    """Writes one field of all answers as float32 [rows, ...].

    The field is the only one of the first answer, or the first in _NUMBERS that
    the first answer contains. The values of a row without an answer are NaN.

    Raises:
        ValueError: the field is not numeric, or its shape changes.
    """
    count, name, shape = 0, "", None
    with _temporary_file() as values:
        for row in rows:
            count += 1
            fields = [*row.keys() - {"id"}]
            if shape is None and fields and "error" not in row:
                name = _find_number(fields)
                shape = _to_array(name, row[name]).shape
                unknown = np.full(shape, np.nan, "<f4").tobytes()
                values.write(unknown * (count - 1))
            if name in row:
                array = _to_array(name, row[name])
                if array.shape != shape:
                    raise ValueError(
                        f"{name!r} is of shape {array.shape} in row {count}, "
                        f"and of shape {shape} before. Set "
                        "--output_format=jsonl"
                    )
                values.write(array.tobytes())
            elif shape is not None:
                values.write(unknown)
        if shape is None:
            shape = ()
            values.write(np.full(count, np.nan, "<f4").tobytes())
        header = {"descr": "<f4", "fortran_order": False}
        header["shape"] = (count, *shape)
        np.lib.format.write_array_header_1_0(output, header)
        values.seek(0)
        shutil.copyfileobj(values, output)


def _find_number(names: Sequence[str]) -> str:
    """Returns the field to store as an array."""
    found = [name for name in _NUMBERS if name in names]
    if len(names) != 1 and not found:
        raise ValueError(
            "npy stores one numeric field: set --output_fields to one of "
            f"{', '.join(names)}"
        )
    return names[0] if len(names) == 1 else found[0]


def _to_array(name: str, value: Any) -> np.ndarray:
    """Converts a number, a list or the values of a dict to a float32 array."""
    numbers = [*value.values()] if isinstance(value, dict) else value
    try:
        return np.array(numbers, "<f4")
    except (TypeError, ValueError):
        raise ValueError(
            f"{name!r} is not numeric, so npy cannot store it. Received: "
            f"{str(value)[:80]}"
        ) from None


def write_csv(rows: Iterable[Reply], output: IO[bytes]) -> None:
    """Writes the answers as CSV.

    A temporary file stores the answers, because the columns are known only when
    all rows are answered.
    """
    columns: dict[str, None] = {}
    with _temporary_file() as lines:
        for row in rows:
            columns |= dict.fromkeys(_flatten(row))
            lines.write(to_json_line(row))
        for name in [name for name in _OF_ERRORS if name in columns]:
            # Move the column to the end.
            columns[name] = columns.pop(name)
        # Escape lone surrogates. An id may contain them, but UTF-8 cannot
        # encode them.
        text = io.TextIOWrapper(output, "utf-8", "backslashreplace", newline="")
        writer = csv.DictWriter(text, [*columns], lineterminator="\n")
        if columns:
            writer.writeheader()
        lines.seek(0)
        for line in lines:
            row = _flatten(parse_json(line, "an answer"))
            for name, value in row.items():
                if isinstance(value, list | dict | bool):
                    row[name] = json.dumps(value, ensure_ascii=False)
            writer.writerow(row)
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
