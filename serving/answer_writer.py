"""Writes rows of answers as JSON lines, CSV or npy."""

import contextlib
import csv
import datetime
import enum
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
from typing import IO, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
from absl import logging

from files.atomic import atomic_open
from files.json_files import parse_json
from files.paths import StrPath, named_errors
from serving.tasks.text_task import Reply

# Format of answers. It is also the extension of the output file's name.
AnswerFormat: TypeAlias = Literal["jsonl", "csv", "npy"]
FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)
# Other formats of tables, which a user might expect to get by their extension.
_OTHER_TABLES = (".tsv", ".parquet", ".xlsx")
# Numeric fields of answers. If answers have several fields, an npy file stores
# the first of these that the first answer contains.
_NUMBERS = "mean_normalized", "mean", "probabilities", "value", "probability"


class Status(enum.Enum):
    """What became of a request."""

    ANSWERED = enum.auto()
    FAILED = enum.auto()
    # Its texts are empty, so it has no answer.
    EMPTY = enum.auto()


class AnswerRow(NamedTuple):
    """A row to write.

    Attributes:
        cells: {column: value}: the columns of the input that are kept, and the
            fields of the answer, or `line` and `error` if the request failed.
        status: what became of the request.
    """

    cells: Reply
    status: Status = Status.ANSWERED


def choose_format(requested: str | None, path: StrPath | None) -> AnswerFormat:
    """Returns the output format: `requested`, or that of `path`'s extension.

    If `requested` is None and the extension is unknown, returns "jsonl".

    Raises:
        ValueError: `requested` is None, and the extension belongs to a table in
            a format that cannot be written.
    """
    name = str(path).removesuffix(".gz")
    if not requested and name.endswith(_OTHER_TABLES):
        raise ValueError(
            f"--output_file={path} must end in .{', .'.join(FORMATS)}. Or set "
            "--output_format"
        )
    for answer_format in FORMATS:
        has_extension = name.endswith(f".{answer_format}")
        if answer_format == requested or (has_extension and not requested):
            return answer_format
    return "jsonl"


def to_json_line(answer: Mapping[str, object]) -> bytes:
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


def is_writable(value: object) -> bool:
    """Returns whether a value can be written as JSON.

    Python may read JSON that is nested too deeply for its writer.
    """
    try:
        _to_json(value)
    except RecursionError:
        return False
    return True


class Schema(NamedTuple):
    """What all files that contain the answers to one input have in common.

    Attributes:
        columns: {key of a cell: its name in the header} of CSV.
        field: field that an array stores.
        shape: shape of its values.
    """

    columns: Mapping[str, str]
    field: str = ""
    shape: tuple[int, ...] = ()


class AnswerCounts(NamedTuple):
    """How many answers were written.

    Attributes:
        num_rows: number of rows that were written.
        num_failed: number of requests that failed.
        num_empty: number of requests without text.
    """

    num_rows: int
    num_failed: int
    num_empty: int

    def log(self, written: str = "") -> None:
        """Logs the numbers, and the text `written`, which names the files."""
        logging.info(
            "%d answered, %d failed%s%s",
            self.num_rows - self.num_failed,
            self.num_failed,
            f", {self.num_empty} without text" if self.num_empty else "",
            f"; {written}" if written else "",
        )


def write_answers(
    path: str | None,
    answer_format: AnswerFormat,
    batches: Iterable[list[AnswerRow]],
    complete: Callable[[], None] = lambda: None,
    schema: Schema | None = None,
) -> AnswerCounts:
    """Writes answers, and returns their numbers.

    Args:
        path: file to write, compressed if its name ends in `.gz`. It gets this
            name only when it is complete. None is standard output. Standard
            output, pipes and devices get JSON lines batch by batch.
        answer_format: format of the output.
        batches: the rows that `batch_prediction.answer_items` yields.
        complete: function that is called before the file gets its name.
        schema: columns and fields of the answers. None = the answers tell.

    Raises:
        OSError: the file cannot be written.
        ValueError: an array cannot store the answers.
    """
    counts = Counter[Status]()

    def count() -> Iterator[list[AnswerRow]]:
        for rows in batches:
            yield rows
            counts.update(row.status for row in rows)

    with _open_output(path) as output:
        if answer_format == "jsonl":
            for rows in count():
                output.writelines(to_json_line(row.cells) for row in rows)
                output.flush()
        else:
            all_rows = itertools.chain.from_iterable(count())
            write_table = write_csv if answer_format == "csv" else write_npy
            write_table(all_rows, output, schema)
        complete()
    return AnswerCounts(
        counts.total(), counts[Status.FAILED], counts[Status.EMPTY]
    )


@contextlib.contextmanager
def _open_output(path: str | None) -> Iterator[IO[bytes]]:
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
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            file = stack.enter_context(cast(IO[bytes], packed))
        yield file


def write_npy(
    rows: Iterable[AnswerRow], output: IO[bytes], schema: Schema | None = None
) -> None:
    """Writes one field of all answers as float32 [rows, ...].

    Without a schema, the field is the only one of the first answer, or the
    first in _NUMBERS that the first answer contains. The values of a row
    without an answer are NaN.

    The number of rows is known at the end, and stands in front of them. So a
    pipe or a packed file gets the rows from a temporary file.

    Raises:
        ValueError: the field is not numeric, or its shape changes.
    """
    with contextlib.ExitStack() as stack:
        file = output
        if not _is_local(output):
            file = stack.enter_context(tempfile.TemporaryFile())
        array = _ArrayWriter(file, schema)
        for row in rows:
            array.add(row)
        array.finish()
        if file is not output:
            file.seek(0)
            shutil.copyfileobj(file, output, 1 << 20)


class _ArrayWriter:
    """Writes an array to a file.

    The rows before the first number are only counted, until their shape is
    known.
    """

    def __init__(self, file: IO[bytes], schema: Schema | None) -> None:
        self._file = file
        self._name = ""
        self._shape: tuple[int, ...] | None = None
        self._num_rows = 0
        if schema:
            self._name = schema.field
            self._set_shape(schema.shape)

    def add(self, row: AnswerRow) -> None:
        """Writes a row.

        Raises a ValueError if its shape differs from that of earlier rows.
        """
        if not self._name and row.cells and row.status != Status.FAILED:
            self._name = find_number(row.cells)
        number = to_numbers(row.cells.get(self._name))
        if number is not None and self._shape is None:
            self._set_shape(number.shape)
        if number is not None and number.shape != self._shape:
            raise ValueError(
                f"{self._name!r} is not always of one shape. Set "
                "--output_format=jsonl"
            )
        if number is not None:
            self._file.write(number.tobytes())
        elif self._shape is not None:
            self._file.write(_unknown(1, self._shape))
        self._num_rows += 1

    def _set_shape(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._write_header()
        self._file.write(_unknown(self._num_rows, shape))

    def _write_header(self) -> None:
        """Writes the header at the position of the file.

        NumPy pads it, so that its size does not depend on the number of rows.
        """
        header = {
            "descr": "<f4",
            "fortran_order": False,
            "shape": (self._num_rows, *(self._shape or ())),
        }
        np.lib.format.write_array_header_1_0(self._file, header)

    def finish(self) -> None:
        if self._shape is None:
            self._set_shape(())
        self._file.seek(0)
        self._write_header()


def to_numbers(value: object) -> np.ndarray | None:
    """Returns the values of a field as an array, None without a value.

    Raises:
        ValueError: the field is not numeric.
    """
    value = [*value.values()] if isinstance(value, dict) else value
    return None if value is None else np.array(value, "<f4")


def find_number(row: Reply) -> str:
    """Returns the name of the field of an answer that an array stores.

    Raises:
        ValueError: there are several fields, none of which is the usual one.
    """
    numeric = [name for name in _NUMBERS if name in row]
    if len(row) != 1 and not numeric:
        raise ValueError(
            "npy stores one numeric field: set --output_fields to one "
            f"of {', '.join(row)}"
        )
    return [*numeric, *row][0]


def _is_local(file: IO[bytes]) -> bool:
    """Returns whether `write_npy` can go back to the beginning of a file."""
    is_plain = isinstance(file, io.BufferedWriter) and file.seekable()
    return is_plain and file is not sys.stdout.buffer


def _unknown(num_rows: int, shape: tuple[int, ...]) -> bytes:
    """Returns rows without an answer."""
    return np.full(shape, np.nan, "<f4").tobytes() * num_rows


def write_csv(
    rows: Iterable[AnswerRow], output: IO[bytes], schema: Schema | None = None
) -> None:
    """Writes the answers as CSV.

    Without a schema, a temporary file stores the answers, because the columns
    are known only when all rows are answered. The header repeats a name that
    the table repeats.
    """
    if schema:
        cells_of_rows = (_to_cells(row) for row in rows)
        _write_table(schema.columns, cells_of_rows, output)
        return
    columns: dict[str, None] = {}
    error_columns: dict[str, None] = {}
    with tempfile.TemporaryFile() as lines:
        for row in rows:
            cells = _to_cells(row)
            failed = row.status == Status.FAILED
            names = error_columns if failed else columns
            names |= dict.fromkeys(cells)
            lines.write(to_json_line(cells))
        columns |= error_columns
        lines.seek(0)
        cells_of_rows = (parse_json(line, "an answer") for line in lines)
        # The table may repeat the names of columns.
        header = {key: getattr(key, "name", key) for key in columns}
        _write_table(header, cells_of_rows, output)


def _to_cells(row: AnswerRow) -> dict[str, str]:
    cells = flatten(row.cells)
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


def flatten(answer: Mapping[str, object]) -> Reply:
    """Flattens an answer to a row: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: Reply = {}
    for name, value in answer.items():
        if isinstance(value, dict) and name != "id":
            row |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            row[name] = value
    return row
