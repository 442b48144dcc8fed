"""Defines the examples of a classification, and turns labels into numbers."""

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Self, SupportsFloat, TypeAlias

import numpy as np

# An example's label: a name, a list of names in multi-label classification, or
# a number in regression, which a table may contain as text.
Label: TypeAlias = str | list[str] | float


@dataclasses.dataclass
class InputExample:
    """A text or a pair of texts, with its label.

    Attributes:
        guid: name or number of the example.
        text_a: the first text.
        text_b: the second text of a pair, or None for a single text.
        label: name of the label. In regression, a number as str or float. In
            multi-label classification, a list of names. None if the label is
            unknown.
        row: cells of the row of a user's table, {column: cell}. None in a train
            set, and in GLUE's tasks.
    """

    guid: str | int
    text_a: str
    text_b: str | None = None
    label: Label | None = None
    row: Mapping[str, object] | None = None

    @property
    def texts(self) -> list[str]:
        """The text, or the two texts of a pair."""
        return [self.text_a, *filter(None, [self.text_b])]

    def without_row(self) -> Self:
        """Returns a copy whose `row` is None."""
        return dataclasses.replace(self, row=None)


def class_names_of(label: Label) -> list[str]:
    """Returns the one or several names in a label of a classification."""
    return label if isinstance(label, list) else [str(label)]


def encode_label(
    label: Label | None, labels: Sequence[str] | None
) -> int | float | list[int] | None:
    """Converts an example's label to the value that its record contains.

    Examples:
        A label becomes its index, a list of labels becomes 0 or 1 for each
        label, and the label of a regression becomes a number:

        >>> encode_label("spam", ["ham", "spam"])
        1
        >>> encode_label(["ham"], ["ham", "spam"])
        [1, 0]
        >>> encode_label("2.5", None)
        2.5

    Args:
        label: the label, or None if it is unknown. Then the result is None.
        labels: names of all labels, None in regression.
    """
    if label is None:
        return None
    if labels is None:
        return convert_regression_label(label)
    if isinstance(label, list):
        return [int(name in label) for name in labels]
    return labels.index(label)


def parse_regression_label(value: object, place: str) -> float:
    """Converts the label of a regression task, such as "2.5", to a number.

    `value` is a cell of a table, of any type.

    Raises:
        ValueError: the label is not a finite number. The message begins with
            `place`, such as the file and the line.
    """
    rating = np.nan
    # float() would convert True, False and "1_000".
    is_odd = isinstance(value, bool) or "_" in str(value)
    if isinstance(value, str | bytes | SupportsFloat) and not is_odd:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            rating = float(value)
    if not abs(rating) <= np.finfo(np.float32).max:
        raise ValueError(
            f"{place}: in regression the label must be a finite number. "
            f"Received: {str(value)[:80]!r}"
        )
    return rating


def convert_regression_label(label: Label) -> float:
    """Returns the label of a regression as a number.

    Raises:
        ValueError: the label is neither a number nor the text of a number.
    """
    if isinstance(label, list):
        raise ValueError(f"{label!r} is not the label of a regression")
    return float(label)
