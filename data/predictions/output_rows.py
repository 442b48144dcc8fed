"""Defines the rows of predictions, which all output formats write.

A prediction is what a network says of a row: that of a training, or the reply
of an export to a request.
"""

import enum
from collections.abc import Collection, Mapping
from typing import NamedTuple

from files.json_files import JsonObject


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
