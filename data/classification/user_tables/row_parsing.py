"""Finds the texts and the label of a row, or what the row lacks."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from data.classification.classification_examples import (
    Label,
    class_names_of,
    parse_regression_label,
)
from data.classification.user_tables import label_notations
from data.sets.text_keys import is_blank
from data.tables.tables import TableRow, texts_of
from model_folders import output_modes
from model_folders.labels import join_first, normal_label
from model_folders.output_modes import OutputMode

# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}


class ParsedRow(NamedTuple):
    """A row of a table, with the texts and the label in it.

    Attributes:
        table_row: the cells as they were read, with their place.
        texts: the text, or the two texts of a pair.
        label: the label, None if the row has none.
        lacks: "text" or "a label" if the row is left out because it lacks this,
            or None if it becomes an example.
        is_respelled: whether its label was brought to another spelling.
    """

    table_row: TableRow
    texts: Sequence[str]
    label: Label | None = None
    lacks: str | None = None
    is_respelled: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowParser:
    """Parses the rows of the table of a set.

    Attributes:
        text_columns: column of the text, or the two columns of a pair.
        label_columns: columns of the label, [] for none.
        label_flag: value of --label_column, for errors.
        label_separator: text between two labels of a cell.
        output_mode: "classification", "multilabel" or "regression".
        allowed_labels: the labels that the rows may have. None if the rows
            name them, or if the task is a regression.
        needs_text: whether a row without a text is left out.
        needs_label: whether a row without a label is left out.
    """

    text_columns: Sequence[str]
    label_columns: Sequence[str]
    label_flag: str
    label_separator: str
    output_mode: OutputMode
    allowed_labels: Sequence[str] | None
    needs_text: bool
    needs_label: bool

    def parse(self, table_row: TableRow) -> ParsedRow:
        """Finds the texts and the label of a row, or what the row lacks.

        Raises:
            ValueError: a cell contains no label, or a label that is not
                allowed. The message names the place of the row.
        """
        row = table_row.cells
        texts = texts_of(row, self.text_columns)
        if self.needs_text and all(map(is_blank, texts)):
            return ParsedRow(table_row, texts, lacks="text")
        cells = [row.get(column) for column in self.label_columns]
        label = self._parse_label(cells, table_row.place)
        if label is None and self.needs_label:
            return ParsedRow(table_row, texts, lacks="a label")
        return ParsedRow(
            table_row,
            texts,
            label,
            is_respelled=any(map(_is_respelled, cells)),
        )

    def _parse_label(self, cells: Sequence[object], place: str) -> Label | None:
        """Returns the label in the cells of a row, None if it is unknown.

        Several cells contain 0 or 1 for each of `allowed_labels`. In
        multi-label classification an empty cell is an empty list of labels, not
        an unknown label.
        """
        if all(cell is None for cell in cells):
            return None
        place = f"{place}, column {self.label_flag!r}"
        labels = self.allowed_labels or ()
        if self.output_mode == output_modes.MULTILABEL and len(cells) == 1:
            label: Label | None = label_notations.parse_label_list(
                cells[0], self.label_separator, place
            )
        elif any(map(label_notations.is_empty, cells)):
            return None
        elif self.output_mode == output_modes.REGRESSION:
            label = parse_regression_label(cells[0], place)
        elif len(cells) == 1:
            label = label_notations.parse_label(cells[0], place, labels)
        else:
            label = _parse_one_hot(cells, place, labels)
        if label is not None and self.allowed_labels is not None:
            _check_is_allowed(label, place, self.allowed_labels)
        return label


def _is_respelled(cell: object) -> bool:
    """Returns whether the label in a cell is brought to another spelling."""
    return isinstance(cell, str) and cell != normal_label(cell)


def _parse_one_hot(
    cells: Sequence[object], place: str, labels: Sequence[str]
) -> list[str]:
    """Returns the labels whose cell contains 1 or true."""
    has_label = [
        _ONE_HOT.get(label_notations.convert_label(cell, place))
        for cell in cells
    ]
    if None in has_label:
        raise ValueError(
            f"{place}: each of these columns must contain 0 or 1. "
            f"Received: {cells}"
        )
    return [*itertools.compress(labels, has_label)]


def _check_is_allowed(label: Label, place: str, labels: Sequence[str]) -> None:
    """Raises a ValueError if a row has a label that is not one of `labels`."""
    for name in class_names_of(label):
        if name not in labels:
            raise ValueError(
                f"{place}: unknown label {name!r}; the labels are "
                f"{join_first(labels)}. Correct the line, or add "
                "the label to --labels or to the train set"
            )
