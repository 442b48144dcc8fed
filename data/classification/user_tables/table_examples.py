"""Turns the rows of a table into examples.

`RowParser` finds the texts and the label of each row. `ParsedRows` are the
examples, and the numbers of rows that it left out.
"""

import collections
import dataclasses
import itertools
from collections.abc import Iterable, Sequence

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
from files.paths import StrPath
from model_folders.labels import describe_labels, normal_label
from model_folders.output_modes import (
    MULTILABEL,
    REGRESSION,
    OutputMode,
)

# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}


@dataclasses.dataclass(frozen=True)
class ParsedRows:
    """The examples of a table, and what parsing left out or changed.

    Attributes:
        examples: the examples, in the order of their rows.
        num_left_out: {what a row lacks: number of rows that are left out}.
        num_respelled_labels: number of labels that were brought to one
            spelling. Several labels of a row count as one.
    """

    examples: list[InputExample]
    num_left_out: collections.Counter[str]
    num_respelled_labels: int

    def without_unscored(self) -> "ParsedRows":
        """Leaves out the examples without a label, unless all lack one."""
        scored = [
            example for example in self.examples if example.label is not None
        ]
        num_unscored = len(self.examples) - len(scored)
        if not scored or not num_unscored:
            return self
        unscored = collections.Counter({"a label": num_unscored})
        return dataclasses.replace(
            self, examples=scored, num_left_out=self.num_left_out + unscored
        )

    def log_counts(self, path: StrPath) -> None:
        """Logs how many rows were left out, and how many labels changed.

        `path` is the table, for the messages.
        """
        if self.num_left_out:
            descriptions = [
                f"{num_rows} rows without {lack}"
                for lack, num_rows in self.num_left_out.items()
            ]
            logging.warning(
                "%s: %s left out", path, " left out, ".join(descriptions)
            )
        if self.num_respelled_labels:
            logging.info(
                "%s: %d labels brought to one spelling of blanks and accents",
                path,
                self.num_respelled_labels,
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class RowParser:
    """Turns the rows of the table of a set into examples.

    Attributes:
        file: the table, and the labels that its rows may have.
        text_columns: column of the text, or the two columns of a pair.
        label_columns: columns of the label, [] for none.
        label_flag: value of --label_column, for errors.
        label_separator: text between two labels of a cell.
        output_mode: "classification", "multilabel" or "regression".
        needs_label: whether a row without a label is left out.
    """

    file: SetFile
    text_columns: Sequence[str]
    label_columns: Sequence[str]
    label_flag: str
    label_separator: str
    output_mode: OutputMode
    needs_label: bool

    def parse_rows(self, rows: Iterable[TableRow]) -> ParsedRows:
        """Returns the examples of rows, without the rows that are left out.

        Only a test set contains an example without a text.

        Raises:
            ValueError: a cell contains no label, or a label that is not
                allowed. The message names the place of the row.
        """
        needs_text = self.file.set_name != "test"
        examples: list[InputExample] = []
        num_left_out: collections.Counter[str] = collections.Counter()
        num_respelled_labels = 0
        for row in rows:
            texts = texts_of(row.cells, self.text_columns)
            if needs_text and all(map(is_blank, texts)):
                num_left_out["text"] += 1
                continue
            cells = [row.cells.get(column) for column in self.label_columns]
            label = self._parse_label(cells, row.place)
            if label is None and self.needs_label:
                num_left_out["a label"] += 1
                continue
            num_respelled_labels += any(map(_is_respelled, cells))
            example_number = len(examples) + 1
            examples.append(
                self._create_example(row, example_number, texts, label)
            )
        return ParsedRows(examples, num_left_out, num_respelled_labels)

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
        if self.output_mode == MULTILABEL and len(cells) == 1:
            label: Label | None = label_notations.parse_label_list(
                cells[0], self.label_separator, place
            )
        elif any(map(label_notations.is_empty, cells)):
            return None
        elif self.output_mode == REGRESSION:
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
                f"{describe_labels(labels)}. Correct the line, or add "
                "the label to --labels or to the train set"
            )
