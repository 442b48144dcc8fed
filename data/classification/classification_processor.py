"""Defines what reads the labels and the sets of a classification task."""

import abc
from collections.abc import Sequence

from data.arrays import LabelArray
from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.processors.data_processor import DataProcessor
from model_folders.model_json_types import (
    ClassifierSettings,
    OutputMode,
)


class ClassificationProcessor(DataProcessor[InputExample]):
    """Reads the labels and the sets of examples of a classification task.

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
