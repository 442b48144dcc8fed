"""Reads examples of sentence classification from files."""

import abc
import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from data.classification import metrics
from data.io import text_files
from data.io.sets import SetReader, find_set_file
from files.paths import StrPath


@dataclasses.dataclass
class InputExample:
    """A text or a pair of texts, with its label.

    Attributes:
        guid: name of the example. An int if the user's table contains integers
            as ids.
        text_a: the first text.
        text_b: the second text of a pair, or None for a single text.
        label: str, in regression a number as str or float, in multi-label
            classification a list of str. None if the example has no label.
    """

    guid: str | int
    text_a: str
    text_b: str | None = None
    label: str | float | list[str] | None = None


class Row(list):
    """The columns of one line. `where` names the line in error messages."""

    def __init__(
        self, columns: Iterable[str], path: StrPath, line_number: int
    ) -> None:
        super().__init__(columns)
        self.where = f"{path}, line {line_number}"

    def __getitem__(self, column: Any) -> Any:
        """Returns a column, or raises a ValueError if it is missing."""
        try:
            return super().__getitem__(column)
        except IndexError:
            raise ValueError(
                f"{self.where}: the task needs column {column + 1}, but the "
                f"line has {len(self)} tab-separated columns. Use the file "
                f"that belongs to the task, unchanged. Received: "
                f"{'<TAB>'.join(self)[:80]!r}"
            ) from None


class DataProcessor(SetReader[InputExample]):
    """Reads the examples of one task.

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the benchmark's metrics (metrics.py).
        test_set_has_labels: True if the labels of the test set are real, False
            if all are placeholders, None if this is unknown.
    """

    output_mode = "classification"
    metrics: tuple[str, ...] = ("accuracy",)
    test_set_has_labels = False

    @abc.abstractmethod
    def get_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression."""

    def score(
        self,
        examples: Sequence[InputExample],
        names: Collection[str],
        labels: np.ndarray,
        predictions: np.ndarray,
        label_names: Sequence[str] | None = None,
    ) -> dict[str, float]:
        """Computes metrics of a set, by default with `metrics.compute_metrics`.

        Args:
            examples: all examples of the set, with and without a label.
            names: names of the metrics.
            labels: right labels of the examples that have a label.
            predictions: predictions for the examples that have a label.
            label_names: names of the labels to score separately, or None.
        """
        return metrics.compute_metrics(names, labels, predictions, label_names)

    def _label(self, row: Row, column: int) -> str | float:
        """Returns the label in a row's column, and checks that it is known."""
        label = row[column]
        if label not in (self.get_labels() or []):
            raise ValueError(
                f"{row.where}, column {column % len(row) + 1}: unknown label "
                f"{label!r}; the task's labels are {self.get_labels()}. "
                "Correct the line, or choose the task that the file belongs to"
            )
        return label


class SplitFilesProcessor(DataProcessor):
    """A task whose train, dev and test sets are TSV files.

    A subclass defines `_create_examples(lines, set_type)`, which yields the
    InputExamples of a file's Rows.

    Attributes:
        labels: names of the labels.
        set_files: {name of a set: (the set's name in guids, file name)}.
    """

    labels: tuple[str, ...] = ("0", "1")
    set_files = {
        "train": ("train", "train.tsv"),
        "dev": ("dev", "dev.tsv"),
        "test": ("test", "test.tsv"),
    }

    def get_labels(self) -> list[str] | None:
        """Returns the names of the labels, or None in regression."""
        return list(self.labels)

    @abc.abstractmethod
    def _create_examples(
        self, lines: list[Row], set_type: str
    ) -> Iterator[InputExample]:
        """Yields the examples in the lines of a set's file.

        The labels of a test set are unknown. As in Google's code, the examples
        get the first label as a placeholder.
        """

    def read_set(self, data_dir: StrPath, name: str) -> list[InputExample]:
        """Returns the examples of the set "train", "dev" or "test"."""
        if name not in self.set_files:
            raise ValueError(
                f"{type(self).__name__}: this task has no {name} set, only "
                f"{' and '.join(self.set_files)}"
            )
        set_type, file_name = self.set_files[name]
        path = find_set_file(data_dir, name, [file_name])
        # Do not parse quotes, which are ordinary characters in these TSV files.
        lines = [
            Row(line.rstrip("\r").split("\t"), path, number)
            for number, line in text_files.read_numbered(path)
        ]
        examples = list(self._create_examples(lines, set_type))
        check_number_of_examples(examples, path, name, self.output_mode)
        return examples


def regression_label(value: Any, place: str) -> float:
    """Converts the label of a regression task to a number.

    Args:
        value: a number, or a text that contains a number.
        place: start of the error message, such as a file and line.

    Raises:
        ValueError: the value is not a number, or not finite as a float32.
    """
    try:
        with np.errstate(over="ignore"):
            # Reject True and False, which float() would convert to 1 and 0.
            number = np.nan if isinstance(value, bool) else float(value)
            is_usable = np.isfinite(np.float32(number))
    except (TypeError, ValueError, OverflowError):
        is_usable = False
    if not is_usable:
        raise ValueError(
            f"{place}: in regression the label must be a finite number. "
            f"Received: {str(value)[:80]!r}"
        )
    return number


def check_number_of_examples(
    examples: list[InputExample], path: str, set_name: str, output_mode: str
) -> None:
    """Checks that a set contains enough examples.

    Raises:
        ValueError: the set is empty, or the dev set of a regression task
            contains only one example, whose correlation is undefined.
    """
    if not examples:
        raise ValueError(f"{path} contains no example")
    if set_name == "dev" and output_mode == "regression" and len(examples) < 2:
        raise ValueError(
            f"{path} contains one example, but a correlation needs at least "
            "two; add examples, or do not evaluate"
        )
