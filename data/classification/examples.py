"""Defines the examples of classification tasks, and what reads them."""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from data.classification import metrics
from files.paths import StrPath


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
    label: str | float | list[str] | None = None
    row: Mapping[str, Any] | None = None


class DataProcessor(abc.ABC):
    """Reads the labels and the sets of examples of a classification task.

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the metrics that score the task (metrics.py), the main
            metric first.
        text_columns: column of the text, or the two columns of a pair.
        test_set_has_labels: False if the labels of the test set are only
            placeholders, as in GLUE.
    """

    output_mode = "classification"
    metrics: tuple[str, ...] = ("eval_accuracy",)
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
