"""Defines the examples of a classification or regression task."""

import dataclasses
from collections.abc import Mapping
from typing import Self, TypeAlias

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

    def without_row(self) -> Self:
        """Returns a copy whose `row` is None."""
        return dataclasses.replace(self, row=None)


def class_names_of(label: Label) -> list[str]:
    """Returns the one or several names in a label of a classification."""
    return label if isinstance(label, list) else [str(label)]
