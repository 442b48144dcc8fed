"""Scores the predictions for the examples of a set that have a label."""

from collections.abc import Sequence
from typing import Any, Protocol

from absl import logging

from data.arrays import LabelArray


class Labeled(Protocol):
    """An example that may have a label."""

    @property
    def label(self) -> object:
        """The label, None if it is unknown."""


class EncodesLabels(Protocol):
    """Converts labels to numbers, as `LabelCodec` does."""

    def encode_labels(self, example_labels: Sequence[Any]) -> LabelArray:
        """Converts the label of each example to what the metrics compare."""


class ScoreFunction(Protocol):
    """Scores predictions, as `ClassificationProcessor.score` does."""

    def __call__(
        self,
        examples: Sequence[Any],
        gold_labels: LabelArray,
        predictions: LabelArray,
        /,
    ) -> dict[str, float]:
        """Returns {name: value} of the metrics.

        Args:
            examples: the examples, all of which have a label.
            gold_labels: the right labels, as `EncodesLabels.encode_labels`
                returns them.
            predictions: the predicted labels, in the same form.
        """


def score_labeled(
    examples: Sequence[Labeled],
    predicted: Sequence[object],
    encoder: EncodesLabels,
    score: ScoreFunction,
) -> dict[str, float]:
    """Scores the predictions for the examples whose right label is known.

    Args:
        examples: the examples of a dev set, all of which have a label, or of a
            test set, in which an unknown label is None.
        predicted: the predicted label of each example.
        encoder: converts the right and the predicted labels for `score`.
        score: computes the metrics.

    Returns:
        {name: value} of the metrics, or {} if no label is known. If some
        labels are unknown, `num_without_label` is the number of such examples.
    """
    pairs = zip(examples, predicted, strict=True)
    labeled_pairs = [pair for pair in pairs if pair[0].label is not None]
    if not labeled_pairs:
        return {}
    labeled, predicted_labels = zip(*labeled_pairs, strict=True)
    gold_labels = [example.label for example in labeled]
    scores = score(
        labeled,
        encoder.encode_labels(gold_labels),
        encoder.encode_labels(predicted_labels),
    )
    if num_unknown := len(examples) - len(labeled_pairs):
        scores["num_without_label"] = num_unknown
        # Only test sets may lack labels.
        logging.warning(
            "%d of %d test examples have no label and are not scored",
            num_unknown,
            len(examples),
        )
    return scores
