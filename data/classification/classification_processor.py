"""Defines what reads the labels and the sets of a classification task."""

import abc
from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.sets.set_names import BaseSet
from data.sets.task_sets import TaskSets
from model_folders.model_json_types import (
    ClassifierSettings,
    OutputMode,
)


class ClassificationProcessor(abc.ABC):
    """Knows the sets, the labels and the metrics of a classification task.

    Args:
        sets: the sets of the task, for `read` and `take`.

    Attributes:
        output_mode: "classification", "multilabel" or "regression".
        metrics: names of the metrics that score the task (metrics.py), the main
            metric first.
        text_columns: column of the text, or the two columns of a pair. () if
            only the examples show whether they are single texts or pairs.
        test_set_has_labels: False if the labels of the test set are only
            placeholders, as in GLUE.
        settings: settings to record with the weights.
    """

    output_mode: OutputMode = "classification"
    metrics: tuple[str, ...] = ("eval_accuracy",)
    text_columns: Sequence[str | int]
    test_set_has_labels = False
    settings: ClassifierSettings = ClassifierSettings()

    def __init__(self, sets: TaskSets[InputExample]) -> None:
        self._sets = sets

    def read(self, set_name: BaseSet) -> list[InputExample]:
        """Returns the examples of a set, and holds them, as `TaskSets.read`."""
        return self._sets.read(set_name)

    def take(self, set_name: BaseSet) -> list[InputExample]:
        """Returns a set as `read` does, and holds it no longer."""
        return self._sets.take(set_name)

    @abc.abstractmethod
    def read_labels(self) -> list[str] | None:
        """Returns the names of the task's labels, or None in regression.

        If only the train set names the labels, the first call reads it.
        """

    def score(
        self,
        examples: Sequence[InputExample],
        labels: LabelArray,
        predictions: LabelArray,
    ) -> dict[str, float]:
        """Computes the task's metrics and each label's scores, {name: value}.

        Args:
            examples: the examples whose label is known.
            labels: right label of each example.
            predictions: predicted label of each example.
        """
        # The labels are known: the examples could not be read without them.
        return metrics.compute_metrics(
            self.metrics, labels, predictions, self.read_labels()
        )
