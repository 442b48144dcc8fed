"""Turns the rows of a table into examples, and finds the labels of the task.

`RowParser` finds the texts and the label of each row. Flags or the rows of the
train set name the labels of the task. Nothing but the checks of them shows that
a column contains no labels, or that a label is misspelled.
"""

import collections
import dataclasses
import itertools
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
from data.sets.label_spelling import describe_misspelled_labels
from data.sets.text_keys import is_blank
from data.tables import column_names
from data.tables.tables import TableRow, texts_of
from files.paths import StrPath
from model_folders.labels import check_labels, describe_labels, normal_label
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)

# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}
# {output mode: the least number of labels}.
_MIN_LABELS: dict[OutputMode, int] = {
    CLASSIFICATION: 2,
    MULTILABEL: 1,
    REGRESSION: 0,
}
# A label with fewer rows is hardly learned.
_MIN_ROWS_OF_LABEL = 5
# If a column contains more values than this, and each value is in fewer than
# three rows on average, then the values are no labels.
_MAX_RARE_LABELS = 10


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
    num_left_out: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter, init=False
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


def choose_labels_of_flags(
    labels: Sequence[str] | None,
    output_mode: OutputMode,
    label_columns: Sequence[str],
) -> list[str]:
    """Returns the labels that --labels or several label columns name.

    The labels are in the order of the model's outputs. The result is [] if only
    the rows name the labels, or if the task is a regression.

    Args:
        labels: value of --labels, None if it is not set.
        output_mode: "classification", "multilabel" or "regression".
        label_columns: columns of the labels. The names of several columns are
            the labels unless --labels is set.

    Raises:
        ValueError: the flags name too few labels, or repeat one.
    """
    if len(label_columns) > 1:
        labels = labels or label_columns
    names = [
        label_notations.convert_label(label, "--labels")
        for label in labels or ()
    ]
    if labels is not None:
        check_labels(names, "--labels", min_labels=_MIN_LABELS[output_mode])
    if output_mode == REGRESSION:
        # A regression has no labels, whatever --labels names.
        return []
    return names


def list_labels(
    examples: Iterable[InputExample], output_mode: OutputMode, source: str
) -> list[str]:
    """Returns the labels of examples, in alphabetical order.

    Args:
        examples: the train set, and the dev set if it is of the same file,
            because it may have more labels.
        output_mode: "classification" or "multilabel".
        source: the train set, for the error.

    Raises:
        ValueError: the examples contain too few labels.
    """
    labels = sorted(count_labels(examples))
    check_labels(labels, source, min_labels=_MIN_LABELS[output_mode])
    return labels


def check_label_column(
    source: StrPath, column: str, examples: Sequence[InputExample]
) -> None:
    """Checks that the column of a train set contains labels.

    Args:
        source: the file, for the error.
        column: value of --label_column, for the error.
        examples: the examples of the file, whose rows name the labels.

    Raises:
        ValueError: the column looks like texts, numbers, vectors of 0 and 1, or
            like a column whose first line is its name.
    """
    counts = count_labels(examples)
    labels = (example.label for example in examples)
    widths = {len(label) for label in labels if isinstance(label, list)}
    is_vector = len(widths - {0}) == 1 and max(widths) > 1
    if is_vector and {"0", "1"}.issuperset(counts):
        raise label_notations.vector_error(str(source), examples[0].label)
    if len(counts) > max(_MAX_RARE_LABELS, len(examples) / 3):
        first_names = ", ".join(map(repr, itertools.islice(counts, 3)))
        raise ValueError(
            f"{source}: --label_column={column} "
            f"contains {len(counts)} labels in {len(examples)} rows, such "
            f"as {first_names}. Choose the column of the labels, or set "
            "--labels, or for numbers --output_mode=regression"
        )
    for name in count_labels(examples[:1]):
        if counts[name] == 1 and name.casefold() in column_names.LABEL_NAMES:
            raise ValueError(
                f"{source}: line 1 contains the label {name!r}. If the "
                "line names the columns, set --text_column and "
                "--label_column to these names"
            )


def log_label_counts(
    labels: Sequence[str], train: Iterable[InputExample]
) -> None:
    """Logs how many examples of a train set each label has."""
    counts = count_labels(train)
    descriptions = [f"{name} {counts[name]}" for name in labels]
    logging.info("Labels of the train set: %s", describe_labels(descriptions))


def warn_of_labels(
    train: Iterable[InputExample], dev: Iterable[InputExample] = ()
) -> None:
    """Warns of labels that are rare or misspelled.

    `dev` contains examples of the same file, which may have more labels.
    """
    train_counts = count_labels(train)
    # A warning of the split names labels without a row to train on.
    rare = [
        name
        for name, num_rows in train_counts.items()
        if num_rows < _MIN_ROWS_OF_LABEL
    ]
    if rare:
        logging.warning(
            "%d labels have fewer than %d rows to train on: %s",
            len(rare),
            _MIN_ROWS_OF_LABEL,
            describe_labels(rare),
        )
    if typos := describe_misspelled_labels(train_counts + count_labels(dev)):
        logging.warning(
            "These labels may be misspelled: %s. Correct the data if they mean "
            "the same.",
            describe_labels(typos),
        )


def warn_of_joined_labels(
    source: str, labels: Sequence[str], separator: str
) -> None:
    """Warns if a label consists of other labels.

    Such a label shows that --label_separator is not the text between the labels
    of a cell.

    Args:
        source: the train set, for the message.
        labels: the labels, in alphabetical order.
        separator: value of --label_separator.
    """
    marks = {*",;|\t"} - {separator}
    for label, mark in itertools.product(labels, sorted(marks)):
        parts = {part.strip() for part in label.split(mark)}
        if len(parts) > 1 and parts <= {*labels}:
            logging.warning(
                "%s: the label %r consists of other labels. If %r "
                "separates labels, set --label_separator",
                source,
                label,
                mark,
            )
            return


def count_labels(examples: Iterable[InputExample]) -> collections.Counter[str]:
    """Returns {label: number of examples that have it}."""
    labels = (example.label for example in examples)
    names = (class_names_of(label) for label in labels if label is not None)
    return collections.Counter(itertools.chain.from_iterable(names))
