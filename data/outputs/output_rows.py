"""Defines the rows of replies, which the module of each format writes."""

import enum
from collections.abc import Mapping
from typing import NamedTuple


class RowStatus(enum.Enum):
    """Whether a request was answered, failed or contained no text."""

    ANSWERED = enum.auto()
    FAILED = enum.auto()
    # The texts of the request are empty, so it has no reply.
    EMPTY = enum.auto()


class OutputRow(NamedTuple):
    """A row to write.

    Attributes:
        cells: {column: value}: the columns of the input that are kept, and the
            fields of the reply, or `line` and `error` if the request failed.
        status: whether the request was answered.
    """

    cells: dict[str, object]
    status: RowStatus = RowStatus.ANSWERED


class OutputSchema(NamedTuple):
    """The columns and fields that all files with replies to one input share.

    Attributes:
        columns: {key of a cell: its name in the header} of CSV.
        field: field that an array stores.
        shape: shape of the values of `field`.
    """

    columns: Mapping[str, str]
    field: str = ""
    shape: tuple[int, ...] = ()


def flatten_reply(reply: Mapping[str, object]) -> dict[str, object]:
    """Flattens a reply to a row: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: dict[str, object] = {}
    for name, value in reply.items():
        if isinstance(value, dict) and name != "id":
            row |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            row[name] = value
    return row
