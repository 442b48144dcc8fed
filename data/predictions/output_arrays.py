"""Writes one numeric field of predictions as npy, an array of NumPy.

`write_npy` has the arguments of the functions in output_text.py.
"""

import contextlib
import io
import itertools
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

import numpy as np

from data.arrays import FloatArray
from data.predictions.output_rows import OutputRow, OutputSchema, RowStatus

# Numeric fields of predictions. Of several fields, an npy file stores the first
# of these that the first prediction contains.
_NUMERIC_FIELDS = (
    "mean_normalized",
    "mean",
    "probabilities",
    "value",
    "probability",
)


def write_npy(
    batches: Iterable[Sequence[OutputRow]],
    output: IO[bytes],
    schema: OutputSchema | None = None,
) -> None:
    """Writes one field of all predictions as float32 [rows, ...].

    Without a schema, the field is the only one of the first prediction, or the
    first in _NUMERIC_FIELDS that it contains. The values of a row without a
    prediction are NaN.

    The number of rows is before the rows in the file, but it is known only at
    the end. So the rows for a pipe or a compressed file are first
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
