"""Defines examples of classification tasks, and reads them from TSV files."""

import abc
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from absl import logging

from data.classification import metrics
from data.io import text_files
from data.io.text_files import find_set_file
from files.paths import StrPath


@dataclasses.dataclass
class InputExample:
    """A text or a pair of texts, with its label.

    Attributes:
        guid: name of the example. It is an int if the ids in the user's table
            are integers.
        text_a: the first text.
        text_b: the second text of a pair, or None for a single text.
        label: name of the label. In regression, a number as str or float. In
            multi-label classification, a list of names. None if the label is
            unknown.
    """

    guid: str | int
    text_a: str
    text_b: str | None = None
    label: str | float | list[str] | None = None


class Row(list):
    """The columns of a line. `where` names the file and the line."""

    def __init__(self, columns: Iterable[str], where: str) -> None:
        super().__init__(columns)
        self.where = where

    def __getitem__(self, column: Any) -> Any:
        """Returns the text of a column. The first column is 0."""
        try:
            return super().__getitem__(column)
        except IndexError:
            raise ValueError(
                f"{self.where}: the task needs column {column + 1}, but the "
                f"line has {len(self)} tab-separated columns"
            ) from None


class DataProcessor(abc.ABC):
    """Reads the labels and the sets of examples of a classification task.

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the metrics that score the task (metrics.py), the main
            metric first.
        text_columns: column of the text, or the two columns of a pair.
        test_set_has_labels: True if the test set contains right labels, False
            if its labels are placeholders, None if this is unknown.
    """

    output_mode = "classification"
    metrics: tuple[str, ...] = ("accuracy",)
    text_columns: Sequence[Any]
    test_set_has_labels = False

    @abc.abstractmethod
    def get_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression."""

    @abc.abstractmethod
    def read_set(self, data_dir: StrPath, name: str) -> list[InputExample]:
        """Returns the examples of the set "train", "dev" or "test".

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: the task has no such set, the set is empty, or a line is
                malformed. The message names the file and the line.
        """

    # Programs written for Google's class call these methods.
    def get_train_examples(self, data_dir: StrPath) -> list[InputExample]:
        """Returns the training examples. Raises the errors of `read_set`."""
        return self.read_set(data_dir, "train")

    def get_dev_examples(self, data_dir: StrPath) -> list[InputExample]:
        """Returns the evaluation examples. Raises the errors of `read_set`."""
        return self.read_set(data_dir, "dev")

    def get_test_examples(self, data_dir: StrPath) -> list[InputExample]:
        """Returns the test examples. Raises the errors of `read_set`."""
        return self.read_set(data_dir, "test")

    def score(
        self,
        examples: Sequence[InputExample],
        labels: np.ndarray,
        predictions: np.ndarray,
    ) -> dict[str, float]:
        """Computes the task's metrics and each label's scores, {name: value}.

        Args:
            examples: all examples of the set, including unlabeled ones.
            labels: right labels of the examples whose label is known.
            predictions: predictions for the same examples as `labels`.
        """
        return metrics.compute_metrics(
            self.metrics, labels, predictions, self.get_labels()
        )


class SplitFilesProcessor(DataProcessor):
    """Reads a task whose train, dev and test sets are TSV files.

    Attributes:
        labels: names of the labels. Not used in regression.
        set_files: {name of a set: (first part of its examples' guids, name of
            its file)}.
        text_columns: column of the text, or the two columns of a pair. A column
            is a name in the file's first line, or a number, counted from 0.
        label_column: column of the label. A test set may lack this column.
        drops_short_lines: True to skip lines with too few columns and log a
            warning, False to raise an error. If True, a test set's short lines
            are not skipped. Their missing texts become empty texts, because
            GLUE identifies predictions by line.
    """

    labels: tuple[str, ...] = ("0", "1")
    set_files = {
        "train": ("train", "train.tsv"),
        "dev": ("dev", "dev.tsv"),
        "test": ("test", "test.tsv"),
    }
    text_columns: Sequence[str | int] = ("sentence1", "sentence2")
    label_column: str | int = "label"
    drops_short_lines = False

    def get_labels(self) -> list[str] | None:
        """Returns the attribute `labels`, or None in regression."""
        return None if self.output_mode == "regression" else list(self.labels)

    def _create_examples(
        self, lines: list[Row], set_type: str
    ) -> Iterator[InputExample]:
        # `set_type` is the name of the set in the examples' guids. Empty lines
        # at the end, which editors may add, are no examples.
        while lines and lines[-1] == [""]:
            lines = lines[:-1]
        if not lines:
            return
        is_test = set_type == "test"
        header = list(lines[0])
        names = list(self.text_columns)
        if not is_test or self.label_column in header:
            names.append(self.label_column)
        for name in names:
            if isinstance(name, str) and name not in header:
                raise ValueError(
                    f"{lines[0].where}: the file has no column {name!r}, only "
                    f"{header}"
                )
        columns = [
            header.index(name) if isinstance(name, str) else name
            for name in names
        ]
        num_short = 0
        for i, line in enumerate(lines[1:], 1):
            if self.drops_short_lines and len(line) <= max(columns):
                num_short += 1
                if not is_test:
                    continue
                line += [""] * (max(columns) + 1 - len(line))
            texts = [
                line[column] for column in columns[: len(self.text_columns)]
            ]
            text_a, text_b = (*texts, None)[:2]
            label = self._label(line, None if is_test else columns[-1])
            guid = f"{set_type}-{self._name(i, line)}"
            yield InputExample(guid, text_a, text_b, label)
        if num_short:
            logging.warning(
                "%s: %s %d lines with too few columns",
                lines[0].where.removesuffix(", line 1"),
                "added empty texts to" if is_test else "skipped",
                num_short,
            )

    def _name(self, number: int, line: Row) -> str | int:
        # Returns the last part of a guid.
        return number

    def _label(self, row: Row, column: int | None) -> str | float:
        labels = self.get_labels()
        if column is None:
            # A placeholder in a test set, as in Google's code.
            return labels[0] if labels else 0.0
        label = row[column]
        where = f"{row.where}, column {column % len(row) + 1}"
        if labels is None:
            return regression_label(label, where)
        if label not in labels:
            raise ValueError(
                f"{where}: unknown label {label!r}; the task's labels are "
                f"{labels}"
            )
        return label

    def read_set(self, data_dir: StrPath, name: str) -> list[InputExample]:
        """Reads the set `name` ("train", "dev" or "test") from its TSV file."""
        if name not in self.set_files:
            raise ValueError(
                f"this task has no {name} set, only {[*self.set_files]}"
            )
        set_type, file_name = self.set_files[name]
        path = find_set_file(data_dir, name, [file_name])
        # Do not use the csv module, because quotes are ordinary characters in
        # these TSV files.
        lines = [
            Row(line.split("\t"), f"{path}, line {number}")
            for number, line in text_files.read_numbered(path)
        ]
        examples = list(self._create_examples(lines, set_type))
        check_number_of_examples(examples, path, name, self.output_mode)
        return examples


def regression_label(value: Any, place: str) -> float:
    """Converts the label of a regression task, such as "2.5", to a number.

    Raises:
        ValueError: the label is not a finite number. The message begins with
            `place`, such as the file and the line.
    """
    try:
        # float() would convert True, False and "1_000".
        is_odd = isinstance(value, bool) or "_" in str(value)
        number = np.nan if is_odd else float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not abs(number) <= np.finfo(np.float32).max:
        raise ValueError(
            f"{place}: in regression the label must be a finite number. "
            f"Received: {str(value)[:80]!r}"
        )
    return number


def check_number_of_examples(
    examples: Sequence[Any],
    path: str,
    set_name: str,
    output_mode: str = "classification",
) -> None:
    """Raises a ValueError if a set contains too few examples.

    A set must not be empty. The dev set of a regression task needs two
    examples, because a correlation of one example is undefined.
    """
    if not examples:
        raise ValueError(f"{path} contains no example")
    if set_name == "dev" and output_mode == "regression" and len(examples) < 2:
        raise ValueError(
            f"{path} contains one example, but a correlation needs at least "
            "two. Add examples to evaluate on, or do not set --do_eval"
        )
