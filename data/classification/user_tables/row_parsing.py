"""Turns the rows of a table into examples: finds their texts and labels."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from absl import logging

from data.classification.classification_examples import (
    InputExample,
    Label,
    class_names_of,
    parse_regression_label,
)
from data.classification.user_tables import label_notations
from data.sets.example_reader import SetFile
from data.sets.text_keys import is_blank
from data.tables.tables import TableRow, texts_of
from model_folders import kinds
from model_folders.kinds import OutputMode
from model_folders.labels import join_labels, normal_label

# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}


@dataclasses.dataclass(kw_only=True)
class RowParser:
    """Turns the rows of the table of a set into examples.

    Counts the rows that are left out and the labels that change, for the log.

    Attributes:
        file: the table, and the labels that its rows may have.
        text_columns: column of the text, or the two columns of a pair.
        label_columns: columns of the label, [] for none.
        label_flag: value of --label_column, for errors.
        label_separator: text between two labels of a cell.
        output_mode: "classification", "multilabel" or "regression".
        needs_label: whether a row without a label is left out.
        num_left_out: {what a row lacks: number of rows that are left out}.
        num_respelled_labels: number of labels that were brought to one
            spelling. Several labels of a row count as one.
    """

    file: SetFile
    text_columns: Sequence[str]
    label_columns: Sequence[str]
    label_flag: str
    label_separator: str
    output_mode: OutputMode
    needs_label: bool
    num_left_out: Counter[str] = dataclasses.field(
        default_factory=Counter, init=False
    )
    num_respelled_labels: int = dataclasses.field(default=0, init=False)

    def parse_rows(self, rows: Iterable[TableRow]) -> Iterator[InputExample]:
        """Yields the examples of rows, without the rows that are left out.

        Only a test set contains an example without a text.

        Raises:
            ValueError: a cell contains no label, or a label that is not
                allowed. The message names the place of the row.
        """
        needs_text = self.file.set_name != "test"
        num_examples = 0
        for row in rows:
            texts = texts_of(row.cells, self.text_columns)
            if needs_text and all(map(is_blank, texts)):
                self.leave_out("text")
                continue
            cells = [row.cells.get(column) for column in self.label_columns]
            label = self._parse_label(cells, row.place)
            if label is None and self.needs_label:
                self.leave_out("a label")
                continue
            self.num_respelled_labels += any(map(_is_respelled, cells))
            num_examples += 1
            yield self._create_example(row, num_examples, texts, label)

    def _create_example(
        self,
        row: TableRow,
        example_number: int,
        texts: Sequence[str],
        label: Label | None,
    ) -> InputExample:
        """Returns the example of a row, whose texts and label were found."""
        guid = f"{self.file.set_name}-{example_number}"
        if self.file.is_data_file:
            guid = f"row {row.spreadsheet_number}"
        text_a, *other_texts = texts
        return InputExample(
            guid=guid,
            text_a=text_a,
            text_b=other_texts[0] if other_texts else None,
            label=label,
            row=row.cells if self.file.keeps_rows else None,
        )

    def leave_out(self, lack: str, num_rows: int = 1) -> None:
        """Counts rows that are left out. `lack` is what they lack."""
        if num_rows:
            self.num_left_out[lack] += num_rows

    def log_counts(self) -> None:
        """Logs how many rows were left out, and how many labels changed."""
        if self.num_left_out:
            descriptions = [
                f"{num_rows} rows without {lack}"
                for lack, num_rows in self.num_left_out.items()
            ]
            logging.warning(
                "%s: %s left out",
                self.file.path,
                " left out, ".join(descriptions),
            )
        if self.num_respelled_labels:
            logging.info(
                "%s: %d labels brought to one spelling of blanks and accents",
                self.file.path,
                self.num_respelled_labels,
            )

    def _parse_label(self, cells: Sequence[object], place: str) -> Label | None:
        """Returns the label in the cells of a row, None if it is unknown.

        Several cells contain 0 or 1 for each label of the file. In
        multi-label classification an empty cell is an empty list of labels, not
        an unknown label.
        """
        if all(cell is None for cell in cells):
            return None
        place = f"{place}, column {self.label_flag!r}"
        labels = self.file.labels
        if self.output_mode == kinds.MULTILABEL and len(cells) == 1:
            label: Label | None = label_notations.parse_label_list(
                cells[0], self.label_separator, place
            )
        elif any(map(label_notations.is_empty, cells)):
            return None
        elif self.output_mode == kinds.REGRESSION:
            label = parse_regression_label(cells[0], place)
        elif len(cells) == 1:
            label = label_notations.parse_label(cells[0], place, labels)
        else:
            label = _parse_one_hot(cells, place, labels)
        if label is not None and labels:
            _check_is_allowed(label, place, labels)
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
                f"{join_labels(labels)}. Correct the line, or add "
                "the label to --labels or to the train set"
            )
