"""Reads and finds the labels of a user's own task, and weighs their classes.

--labels names the labels. Without this flag, the rows of the train set do.
"""

import collections
import itertools
from collections.abc import Iterable, Sequence

from absl import logging

from data.classification.classification_examples import (
    InputExample,
    Label,
)
from data.classification.classification_options import TableOptions
from data.classification.label_values import (
    class_names_of,
    parse_regression_label,
)
from data.classification.labels import label_cells
from data.tables import column_names
from files.paths import StrPath
from model_folders.label_spelling import find_misspelled_labels
from model_folders.labels import check_labels, format_first_labels
from model_folders.model_json_types import OutputMode

# A label with fewer rows is hardly learned.
_MIN_ROWS_OF_LABEL = 5
# If a column contains more values than this, and each value is in fewer than
# three rows on average, then the values are no labels.
_MAX_RARE_LABELS = 10
# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}
# {output mode: the least number of labels}.
_MIN_LABELS: dict[OutputMode, int] = {
    "classification": 2,
    "multilabel": 1,
    "regression": 0,
}


class LabelSet:
    """Reads the label of each row, and finds the labels of the task.

    The flags or the rows of the train set name the labels of a task.

    Args:
        options: flags of the table.
        output_mode: "classification", "multilabel" or "regression".
        label_columns: columns of the labels. Several columns contain 0 or 1,
            and their names are the labels unless --labels is set.

    Attributes:
        named_by_flags: the labels that --labels or several label columns name,
            in the order of the model's outputs. None = the rows name them (see
            `find_labels`), or the task is a regression.

    Raises:
        ValueError: --labels names too few labels, or repeats one.
    """

    def __init__(
        self,
        options: TableOptions,
        output_mode: OutputMode,
        label_columns: Sequence[str],
    ) -> None:
        self._output_mode = output_mode
        self._column = options.label_column
        self._separator = options.label_separator
        self.named_by_flags: list[str] | None = None
        labels = options.labels
        if len(label_columns) > 1:
            labels = labels or label_columns
        if labels is not None:
            names = [
                label_cells.label_text(label, "--labels") for label in labels
            ]
            self._check_num_labels(names, "--labels")
            self.named_by_flags = names

    def _check_num_labels(self, names: list[str], where: str) -> None:
        check_labels(names, where, min_labels=_MIN_LABELS[self._output_mode])

    def label_of_cells(
        self,
        cells: Sequence[object],
        where: str,
        names: Sequence[str] | None = None,
    ) -> Label | None:
        """Converts the cells of a row's label columns to its label.

        In multi-label classification an empty cell is an empty list of labels,
        not an unknown label.

        Args:
            cells: the cells, one or more.
            where: the place of the cells, for the error.
            names: the labels of the task, None = the rows of this set name
                them.

        Returns:
            the label, or None if it is unknown.

        Raises:
            ValueError: a cell contains no label, or a label that is not in
                `names`.
        """
        label = self._parse_cells(cells, where, names or ())
        if label is not None and names is not None:
            _check_is_allowed(label, where, names)
        return label

    def _parse_cells(
        self, cells: Sequence[object], where: str, names: Sequence[str]
    ) -> Label | None:
        """Converts cells to a label. Does not check that it is in `names`."""
        if self._output_mode == "multilabel" and len(cells) == 1:
            return label_cells.parse_label_list(
                cells[0], self._separator, where
            )
        if any(map(label_cells.is_empty, cells)):
            return None
        if self._output_mode == "regression":
            return parse_regression_label(cells[0], where)
        if len(cells) == 1:
            return label_cells.parse_label(cells[0], where, names)
        has_label = [
            _ONE_HOT.get(label_cells.label_text(cell, where)) for cell in cells
        ]
        if None in has_label:
            raise ValueError(
                f"{where}: each of these columns must contain 0 or 1. "
                f"Received: {cells}"
            )
        return [*itertools.compress(names, has_label)]

    def check_column(
        self, where: StrPath, examples: Sequence[InputExample]
    ) -> None:
        """Checks that the column of a train set contains labels.

        If flags name the labels, or in regression, there is nothing to check.

        Args:
            where: the file, for the error.
            examples: the examples of the file.

        Raises:
            ValueError: the column looks like texts, numbers, vectors of 0 and
                1, or like a column whose first line is its name.
        """
        if self.named_by_flags is not None or self._output_mode == "regression":
            return
        counts = _count_labels(examples)
        labels = (example.label for example in examples)
        widths = {len(label) for label in labels if isinstance(label, list)}
        is_vector = len(widths - {0}) == 1 and max(widths) > 1
        if is_vector and {"0", "1"}.issuperset(counts):
            raise label_cells.vector_error(str(where), examples[0].label)
        if len(counts) > max(_MAX_RARE_LABELS, len(examples) / 3):
            first_names = ", ".join(map(repr, itertools.islice(counts, 3)))
            raise ValueError(
                f"{where}: --label_column={self._column} "
                f"contains {len(counts)} labels in {len(examples)} rows, such "
                f"as {first_names}. Choose the column of the labels, or set "
                "--labels, or for numbers --output_mode=regression"
            )
        for name in _count_labels(examples[:1]):
            if (
                counts[name] == 1
                and name.casefold() in column_names.LABEL_NAMES
            ):
                raise ValueError(
                    f"{where}: line 1 contains the label {name!r}. If the "
                    "line names the columns, set --text_column and "
                    "--label_column to these names"
                )

    def find_labels(
        self, where: str, examples: Iterable[InputExample]
    ) -> list[str]:
        """Returns the labels of examples, in alphabetical order.

        Args:
            where: the train set, for the error.
            examples: the train set, and the dev set if it is of the same file,
                because it may have more labels.

        Raises:
            ValueError: the examples contain too few labels.
        """
        labels = sorted(_count_labels(examples))
        self._check_num_labels(labels, where)
        return labels

    def warn_of_labels(
        self,
        where: str,
        train: Iterable[InputExample],
        dev: Iterable[InputExample] = (),
    ) -> None:
        """Warns of labels that are rare, misspelled or joined.

        Args:
            where: the train set, for messages.
            train: the examples to train on.
            dev: examples of the same file, which may have more labels.
        """
        train_counts = _count_labels(train)
        counts = train_counts + _count_labels(dev)
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
                format_first_labels(rare),
            )
        if typos := find_misspelled_labels(counts):
            logging.warning(
                "These labels may be misspelled: %s. Correct the data if "
                "they mean the same.",
                format_first_labels(typos),
            )
        if self._output_mode == "multilabel":
            self._warn_of_joined(where, sorted(counts))

    def _warn_of_joined(self, where: str, labels: list[str]) -> None:
        """Warns if a label consists of other labels.

        Such a label shows that --label_separator is not the text between the
        labels of a cell.
        """
        marks = {*",;|\t"} - {self._separator}
        for label, mark in itertools.product(labels, sorted(marks)):
            parts = {part.strip() for part in label.split(mark)}
            if len(parts) > 1 and parts <= {*labels}:
                logging.warning(
                    "%s: the label %r consists of other labels. If %r "
                    "separates labels, set --label_separator",
                    where,
                    label,
                    mark,
                )
                return


def _check_is_allowed(label: Label, where: str, names: Sequence[str]) -> None:
    """Raises a ValueError if a row has a label that is not one of `names`."""
    for name in class_names_of(label):
        if name not in names:
            raise ValueError(
                f"{where}: unknown label {name!r}; the labels are "
                f"{format_first_labels(names)}. Correct the line, or add "
                "the label to --labels or to the train set"
            )


def _count_labels(
    examples: Iterable[InputExample],
) -> collections.Counter[str]:
    labels = (example.label for example in examples)
    names = (class_names_of(label) for label in labels if label is not None)
    return collections.Counter(itertools.chain.from_iterable(names))


def log_label_counts(
    labels: Sequence[str], train: Iterable[InputExample]
) -> None:
    """Logs how many examples of a train set each label has."""
    counts = _count_labels(train)
    descriptions = [f"{name} {counts[name]}" for name in labels]
    logging.info(
        "Labels of the train set: %s", format_first_labels(descriptions)
    )


def compute_class_weights(
    labels: Sequence[str], examples: Iterable[InputExample]
) -> dict[str, float]:
    """Returns {label: weight of its class in the training loss}.

    The weight of a class with n examples is N / (L * n), for N examples and L
    labels in total. So the weights of the examples of each class add up to
    N / L. For example, of 3 examples of ham and 1 of spam, the weights are
    4 / (2 * 3) and 4 / (2 * 1), and add up to 2 for each class.
    """
    counts = collections.Counter(example.label for example in examples)
    weights = {
        name: counts.total() / (len(labels) * max(counts[name], 1))
        for name in labels
    }
    descriptions = [f"{name} {weight:.3f}" for name, weight in weights.items()]
    logging.info("Class weights: %s", format_first_labels(descriptions))
    return weights
