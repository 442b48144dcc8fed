"""Writes predict.py's answers as JSON lines, CSV, Parquet or npy.

Reads a few answers at a time, so that any number of answers can be written.
"""

import contextlib
import csv
import gzip
import importlib.util
import io
import itertools
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from files import requirements
from files.atomic import atomic_open
from files.json_files import parse_json
from files.paths import StrPath, named_errors

if TYPE_CHECKING:
    from serving.tasks.base import Reply

# Formats of answers. A format is also the extension of the output file's name.
FORMS = ("jsonl", "csv", "parquet", "npy")
# Numeric fields of answers. An npy file stores only one field: by default the
# first of these fields that the answers contain.
_NUMBERS = "mean_normalized", "mean", "probabilities", "value", "probability"
# Output fields of an input row that could not be answered. In CSV and Parquet,
# they are the last columns.
_OF_ERRORS = ("file", "line", "error")
# Limits of a row group in a Parquet file: its size in bytes if it were JSON
# (estimated from the first answer), and its number of rows.
_GROUP_BYTES, _GROUP_ROWS = 1 << 23, 1 << 16

Read = Callable[[], Iterator[dict[str, Any]]]


def find_form(form: str | None, path: StrPath | None) -> str:
    """Returns the output format: `form`, or the format for `path`'s extension.

    If `form` is None and the extension is unknown, returns "jsonl".

    Raises:
        ValueError: `form` is None and the extension is .tsv or .xlsx, which
            cannot be written. Or the format is Parquet and pyarrow is not
            installed.
    """
    name = str(path).removesuffix(".gz")
    if not form and name.endswith((".tsv", ".xlsx")):
        raise ValueError(
            f"--output_file={path}: answers cannot be written in this format. "
            f"Use a name that ends in .{', .'.join(FORMS)}, or set "
            "--output_format"
        )
    found = [each for each in FORMS if name.endswith(f".{each}")]
    form = form or [*found, "jsonl"][0]
    if form == "parquet" and not importlib.util.find_spec("pyarrow"):
        raise ValueError(
            "Parquet needs pyarrow: "
            f"{requirements.install('requirements/tables.txt')}"
        )
    return form


class Fields:
    """Selects which fields of each answer to write.

    Args:
        wanted: names of the fields to write, or None for all fields. An npy
            file stores only one field, so None then selects the first field in
            _NUMBERS that the first answer contains.
        form: format of the output file, one of FORMS.
    """

    def __init__(self, wanted: Sequence[str] | None, form: str) -> None:
        self._wanted = wanted
        self._form = form
        # For npy, shape of the selected field in the first answer. For other
        # formats, (). None before the first answer.
        self._shape: tuple[int, ...] | None = None

    def __call__(self, reply: "Reply") -> "Reply":
        """Returns the selected fields of a reply.

        Raises:
            ValueError: the first reply lacks a selected field, or a .npy file
                cannot store the field.
        """
        is_array = self._form == "npy"
        if is_array and self._wanted is None:
            self._wanted = [name for name in _NUMBERS if name in reply][:1]
        if self._wanted is None:
            return reply
        kept = {name: reply[name] for name in self._wanted if name in reply}
        missing = [name for name in self._wanted if name not in reply]
        has_one = not is_array or len(self._wanted) == 1
        if self._shape is None and (missing or not has_one):
            problem = f"found no field {missing[0]!r}; " if missing else ""
            raise ValueError(
                f"--output_fields: {problem}choose from {', '.join(reply)}. "
                "For npy choose exactly one numeric field"
            )
        for name, value in kept.items() if is_array else ():
            shape = _to_array(name, value).shape
            if shape != (shape if self._shape is None else self._shape):
                raise ValueError(
                    f"{name!r} is of shape {shape} in this answer and "
                    f"{self._shape} in earlier answers. npy needs equal "
                    "shapes; set --output_format=jsonl or "
                    "--output_format=parquet"
                )
            self._shape = shape
        self._shape = self._shape or ()
        return kept


def _to_array(name: str, value: Any) -> np.ndarray:
    """Converts a number, a list or the values of a dict to a float32 array.

    Raises:
        ValueError: the field `name` is not numeric.
    """
    numbers = [*value.values()] if isinstance(value, dict) else value
    try:
        return np.array(numbers, np.float32)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name!r} is not numeric, so npy cannot store it. Received: "
            f"{str(value)[:80]}"
        ) from None


def write(answers: IO[bytes], form: str, path: StrPath | None) -> None:
    """Converts a file of answers from JSON lines to the format `form`.

    Args:
        answers: file of JSON lines, read from its current position to the end.
        form: format of the output, one of FORMS.
        path: file to write, compressed if its name ends in `.gz`. It gets this
            name only when it is complete. None writes to standard output.

    Raises:
        OSError: the file cannot be written.
    """
    with contextlib.ExitStack() as stack:
        file: IO[bytes] = sys.stdout.buffer
        stack.enter_context(named_errors(path or "standard output"))
        if path is not None:
            file = stack.enter_context(atomic_open(path))
        if str(path).endswith(".gz"):
            # Omit the time from the gzip header, so that equal answers produce
            # equal files.
            packed: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            file = stack.enter_context(packed)
        start = answers.tell()

        def read() -> Iterator[dict[str, Any]]:
            answers.seek(start)
            return (parse_json(line, str(path)) for line in answers)

        if form == "jsonl":
            shutil.copyfileobj(answers, file)
        elif form == "npy":
            _write_npy(read, file)
        elif form == "csv":
            _write_csv(read, file)
        else:
            _write_parquet(read, file)


def _write_npy(read: Read, output: IO[bytes]) -> None:
    """Writes the selected field of all answers as float32 [rows, ...].

    The values of a row without an answer are NaN.
    """

    def values() -> Iterator[np.ndarray | None]:
        for answer in read():
            names = [*answer.keys() - {"id", *_OF_ERRORS}]
            yield _to_array(names[0], answer[names[0]]) if names else None

    shape = next((x.shape for x in values() if x is not None), ())
    shape = (sum(1 for _ in read()), *shape)
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(output, header)
    unknown = np.full(shape[1:], np.nan)
    for value in values():
        row = unknown if value is None else value
        output.write(row.astype("<f4").tobytes())


def _flatten(answer: dict[str, Any]) -> dict[str, Any]:
    """Flattens an answer to a row: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: dict[str, Any] = {}
    for name, value in answer.items():
        if isinstance(value, dict) and name != "id":
            row |= {f"{name}.{key}": each for key, each in value.items()}
        elif isinstance(value, str):
            # Escape lone surrogates. An id may contain them, but UTF-8 cannot
            # encode them.
            row[name] = value.encode("utf-8", "backslashreplace").decode()
        else:
            row[name] = value
    return row


def _order(names: Iterable[str]) -> list[str]:
    """Removes repeated column names, and puts the names in _OF_ERRORS last."""
    unique = dict.fromkeys(names)
    errors = [name for name in _OF_ERRORS if name in unique]
    return [name for name in unique if name not in errors] + errors


def _write_csv(read: Read, output: IO[bytes]) -> None:
    names: dict[str, None] = {}
    for row in map(_flatten, read()):
        names |= dict.fromkeys(row)
    text = io.TextIOWrapper(output, "utf-8", newline="")
    writer = csv.DictWriter(text, _order(names), lineterminator="\n")
    if names:
        writer.writeheader()
    for row in map(_flatten, read()):
        for name, value in row.items():
            if isinstance(value, list | dict | bool):
                row[name] = json.dumps(value, ensure_ascii=False)
        writer.writerow(row)
    text.detach()


def _write_parquet(read: Read, output: IO[bytes]) -> None:
    import pyarrow
    from pyarrow import parquet

    def groups(is_mixed: bool) -> Iterator[dict[str, list[Any]]]:
        """Yields {column: cells} of each row group.

        `is_mixed` is True if the ids are of several types. Then ids that are
        not strings become JSON, because a Parquet column is of one type.
        """
        rows = map(_flatten, read())
        size = len(json.dumps(next(rows, None)))
        count = min(max(_GROUP_BYTES // size, 1), _GROUP_ROWS)
        rows = map(_flatten, read())
        while group := [*itertools.islice(rows, count)]:
            for row in group if is_mixed else ():
                if not isinstance(row.get("id"), str | None):
                    row["id"] = json.dumps(row["id"])
            names = _order(name for row in group for name in row)
            yield {name: [row.get(name) for row in group] for name in names}

    kinds = {type(answer.get("id")) for answer in read()} - {type(None)}
    is_mixed = len(kinds) > 1
    schemas = [pyarrow.table(group).schema for group in groups(is_mixed)]
    merged = pyarrow.unify_schemas(
        schemas or [pyarrow.schema([])], promote_options="permissive"
    )
    schema = pyarrow.schema(
        [merged.field(name) for name in _order(merged.names)]
    )
    with parquet.ParquetWriter(output, schema) as writer:
        for group in groups(is_mixed):
            count = len(next(iter(group.values())))
            columns = [group.get(name, [None] * count) for name in schema.names]
            arrays = [
                pyarrow.array(column, field.type)
                for column, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(pyarrow.table(arrays, schema=schema))
