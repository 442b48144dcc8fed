"""Finds the texts and the label of a row, or what the row lacks."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from data.classification.classification_examples import Label
from data.classification.labels.row_labels import parse_row_label
from data.tables.row_keys import is_blank
from data.tables.tables import TableRow, texts_of
from model_folders.labels import normal_label
from model_folders.model_json_types import OutputMode


class ParsedRow(NamedTuple):
    """A row of a table, with the texts and the label in it.

    Attributes:
        table_row: the row.
        texts: the text, or the two texts of a pair.
        label: the label, None if the row has none.
        lacks: "text" or "a label" if the row is left out because it lacks this.
            None = it becomes an example.
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
        allowed_labels: the labels that the rows may have. None = the rows name
            them, or the task is a regression.
        may_lack_text: whether a row without a text becomes an example.
        may_lack_label: whether a row without a label becomes an example.
    """

    text_columns: Sequence[str]
    label_columns: Sequence[str]
    label_flag: str
    label_separator: str
    output_mode: OutputMode
    allowed_labels: Sequence[str] | None
    may_lack_text: bool
    may_lack_label: bool

    def parse(self, table_row: TableRow) -> ParsedRow:
        """Finds the texts and the label of a row, or what the row lacks.

        Raises:
            ValueError: a cell contains no label, or a label that is not
                allowed. The message names the place of the row.
        """
        row = table_row.cells
        texts = texts_of(row, self.text_columns)
        if not self.may_lack_text and all(map(is_blank, texts)):
            return ParsedRow(table_row, texts, lacks="text")
        cells = [row.get(column) for column in self.label_columns]
        label = self._parse_label(cells, table_row.where)
        if label is None and not self.may_lack_label:
            return ParsedRow(table_row, texts, lacks="a label")
        return ParsedRow(
            table_row,
            texts,
            label,
            is_respelled=any(map(_is_respelled, cells)),
        )

    def _parse_label(self, cells: Sequence[object], where: str) -> Label | None:
        """Returns the label in the cells of a row, None without one."""
        if all(cell is None for cell in cells):
            return None
        return parse_row_label(
            cells,
            f"{where}, column {self.label_flag!r}",
            output_mode=self.output_mode,
            separator=self.label_separator,
            names=self.allowed_labels,
        )


def _is_respelled(cell: object) -> bool:
    """Returns whether the label in a cell is brought to another spelling."""
    return isinstance(cell, str) and cell != normal_label(cell)
