"""Defines the rows of predictions, and writes them in each format.

A prediction is what a network says of a row: that of a training, or the reply
of an export to a request. The formats are JSON lines, CSV, and npy, an array of
NumPy with one numeric field. The function of each format has the same
arguments, such as write_csv(batches, output, schema). A cell that CSV cannot
show, such as a list, is written as JSON.
"""

import contextlib
import csv
import datetime
import enum
import functools
import io
import itertools
import json
import math
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import IO, NamedTuple, cast

import numpy as np

from data.arrays import FloatArray
from files.json_files import JsonObject, parse_json

# Numeric fields of predictions. Of several fields, an npy file stores the first
# of these that the first prediction contains.
_NUMERIC_FIELDS = (
    "mean_normalized",
    "mean",
    "probabilities",
    "value",
    "probability",
)


class RowStatus(enum.Enum):
    """Whether a row has a prediction, failed or contained no text."""

    PREDICTED = enum.auto()
    FAILED = enum.auto()
    # The texts of the row are empty, so it has no prediction.
    EMPTY = enum.auto()


class OutputRow(NamedTuple):
    """A row to write.

    Attributes:
        cells: {column: value}: the columns of the input that are kept, and the
            fields of the prediction, or `line` and `error` if the row failed.
        status: whether the row has a prediction.
    """

    cells: dict[str, object]
    status: RowStatus = RowStatus.PREDICTED


class OutputSchema(NamedTuple):
    """The columns and fields that all files of one input share.

    Attributes:
        columns: {key of a cell: its name in the header} of CSV.
        field: field that an array stores.
        shape: shape of the values of `field`.
    """

    columns: Mapping[str, str]
    field: str = ""
    shape: tuple[int, ...] = ()


def flatten_prediction(prediction: Mapping[str, object]) -> dict[str, object]:
    """Flattens a prediction to a row: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: dict[str, object] = {}
    for name, value in prediction.items():
        if isinstance(value, dict) and name != "id":
            row |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            row[name] = value
    return row


def with_prediction(
    row: Mapping[str, object],
    prediction: Mapping[str, object],
    columns: Collection[str] = (),
) -> JsonObject:
    """Returns a row of a table with the fields of a prediction after its cells.

    If the row, or one of the known `columns` of the table, has the name of a
    field, the prediction's field gets the prefix `predicted_`.

    Examples:
        >>> with_prediction({"text": "Hi", "label": "a"}, {"label": "b"})
        {'text': 'Hi', 'label': 'a', 'predicted_label': 'b'}
    """

    def is_taken(name: str) -> bool:
        return name in row or name in columns

    def is_any_taken(name: str, value: object) -> bool:
        # In CSV, {"a": {"b": 1}} is the column a.b.
        inner_names = value if isinstance(value, dict) else ()
        names = [name, *(f"{name}.{inner}" for inner in inner_names)]
        return any(map(is_taken, names))

    return {**row} | {
        f"predicted_{name}" if is_any_taken(name, value) else name: value
        for name, value in prediction.items()
    }


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


def write_npy(
    batches: Iterable[Sequence[OutputRow]],
    output: IO[bytes],
    schema: OutputSchema | None = None,
) -> None:
    """Writes one field of all predictions as float32 [rows, ...].

    Without a schema, the field is the only one of the first prediction, or the
    first in _NUMERIC_FIELDS that it contains. The values of a row without a
    prediction are NaN.

    The file states the number of rows before the rows, but the number is known
    only at the end. So the rows for a pipe or a compressed file are first
    written to a temporary file.

    Args:
        batches: the rows to write, in batches as they are predicted.
        output: open file to which the rows are written.
        schema: the field and its shape. If None, the rows determine both.

    Raises:
        ValueError: the field is not numeric, or its shape changes.
    """
    with contextlib.ExitStack() as stack:
        file = output
        if not _is_local(output):
            file = stack.enter_context(tempfile.TemporaryFile())
        array = _ArrayWriter(file, schema)
        for row in itertools.chain.from_iterable(batches):
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

    def __init__(self, file: IO[bytes], schema: OutputSchema | None) -> None:
        self._file = file
        self._name = ""
        self._shape: tuple[int, ...] | None = None
        self._num_rows = 0
        if schema:
            self._name = schema.field
            self._set_shape(schema.shape)

    def add(self, row: OutputRow) -> None:
        """Writes a row.

        Raises:
            ValueError: the shape of the row differs from earlier rows.
        """
        if not self._name and row.cells and row.status != RowStatus.FAILED:
            self._name = choose_numeric_field(row.cells)
        array = to_numbers(row.cells.get(self._name))
        if array is not None and self._shape is None:
            self._set_shape(array.shape)
        if array is not None and array.shape != self._shape:
            raise ValueError(
                f"{self._name!r} is not always of one shape. Set "
                "--output_format=jsonl"
            )
        if array is not None:
            self._file.write(array.tobytes())
        elif self._shape is not None:
            self._file.write(_encode_missing(1, self._shape))
        self._num_rows += 1

    def _set_shape(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._write_header()
        self._file.write(_encode_missing(self._num_rows, shape))

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


def choose_numeric_field(prediction: Mapping[str, object]) -> str:
    """Returns the name of the field of a prediction that an array stores.

    Raises:
        ValueError: there are several fields, none of which is the usual one.
    """
    numeric_names = [name for name in _NUMERIC_FIELDS if name in prediction]
    if len(prediction) != 1 and not numeric_names:
        raise ValueError(
            "npy stores one numeric field: set --output_fields to one "
            f"of {', '.join(prediction)}"
        )
    return [*numeric_names, *prediction][0]


def to_numbers(value: object) -> FloatArray | None:
    """Returns the values of a field as an array, None without a value.

    Raises:
        ValueError: the field is not numeric.
    """
    value = [*value.values()] if isinstance(value, dict) else value
    return None if value is None else np.array(value, "<f4")


def _is_local(file: IO[bytes]) -> bool:
    """Returns whether `write_npy` can go back to the beginning of a file."""
    is_plain = isinstance(file, io.BufferedWriter) and file.seekable()
    return is_plain and file is not sys.stdout.buffer


def _encode_missing(num_rows: int, shape: tuple[int, ...]) -> bytes:
    """Returns the bytes of rows without a prediction, which contain NaN."""
    return np.full(shape, np.nan, "<f4").tobytes() * num_rows
