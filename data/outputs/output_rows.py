"""Defines the rows of answers, which the module of each format writes."""

import enum
from collections.abc import Mapping
from typing import NamedTuple


class RowStatus(enum.Enum):
    """Whether a request was answered, failed or contained no text."""

    ANSWERED = enum.auto()
    FAILED = enum.auto()
    # The texts of the request are empty, so it has no answer.
    EMPTY = enum.auto()


class OutputRow(NamedTuple):
    """A row to write.

    Attributes:
        cells: {column: value}: the columns of the input that are kept, and the
            fields of the answer, or `line` and `error` if the request failed.
        status: whether the request was answered.
    """

    cells: dict[str, object]
    status: RowStatus = RowStatus.ANSWERED


class OutputSchema(NamedTuple):
    """The columns and fields that all files with answers to one input share.

    Attributes:
        columns: {key of a cell: its name in the header} of CSV.
        field: field that an array stores.
        shape: shape of the values of `field`.
    """

    columns: Mapping[str, str]
    field: str = ""
    shape: tuple[int, ...] = ()


def flatten_answer(answer: Mapping[str, object]) -> dict[str, object]:
    """Flattens an answer to a row: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: dict[str, object] = {}
    for name, value in answer.items():
        if isinstance(value, dict) and name != "id":
            row |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            row[name] = value
    return row
