"""Converts outputs to labels or cosines, and labels to numbers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from data.arrays import FeatureArrays, FloatArray, LabelArray
from data.classification.classification_examples import Label, encode_label
from data.probabilities import MULTILABEL_THRESHOLD, to_probabilities
from model_folders.output_modes import MULTILABEL, REGRESSION, OutputMode

# (features, logits or values) of a batch.
LogitsBatch: TypeAlias = tuple[FeatureArrays, FloatArray]


class LabelCodec:
    """Converts labels to numbers, and a classifier's outputs to labels.

    Args:
        output_mode: "classification" (one label for each text), "multilabel"
            (any number of labels) or "regression" (a number).
        labels: names of the labels, or None in regression.
    """

    def __init__(
        self, output_mode: OutputMode, labels: list[str] | None
    ) -> None:
        self.output_mode = output_mode
        self.labels = labels or []

    @property
    def num_outputs(self) -> int:
        """Number of the network's outputs: one per label, 1 in regression."""
        return len(self.labels) or 1

    def compute_values(self, outputs: FloatArray) -> FloatArray:
        """Computes the probabilities of the labels, float32 [examples, labels].

        In regression, returns the outputs themselves, the predicted values
        [examples, 1].
        """
        return to_probabilities(outputs.astype(np.float32), self.output_mode)

    def encode_labels(
        self, example_labels: Sequence[Label | None]
    ) -> LabelArray:
        """Converts a Label of each example, as `encode_label` does.

        Returns int [examples], in multi-label classification int [examples,
        labels], and in regression float32 [examples].
        """
        is_number = self.output_mode == REGRESSION
        ids = [
            encode_label(label, self.labels or None) for label in example_labels
        ]
        return np.array(ids, np.float32 if is_number else np.int64)

    def decode_labels(self, outputs: FloatArray) -> list[Label]:
        """Converts the network's outputs to the predicted Label of each text.

        In multi-label classification, a text has each label whose probability
        is above MULTILABEL_THRESHOLD. `outputs` are logits, float [examples,
        labels], or values [examples, 1] in regression.
        """
        if self.output_mode == REGRESSION:
            values: list[Label] = outputs[:, 0].tolist()
            return values
        if self.output_mode == MULTILABEL:
            is_chosen = self.compute_values(outputs) > MULTILABEL_THRESHOLD
            return [
                [self.labels[index] for index in np.flatnonzero(is_label)]
                for is_label in is_chosen
            ]
        return [self.labels[index] for index in outputs.argmax(-1)]


class CosineCodec(LabelCodec):
    """Turns the vectors of pairs into the cosine of each pair."""

    def __init__(self) -> None:
        super().__init__(REGRESSION, None)

    def compute_values(self, outputs: FloatArray) -> FloatArray:
        """Computes the cosine of each pair, float [pairs, 1].

        `outputs` are unit vectors, float [pairs, 2, width].
        """
        return compute_cosines(outputs)

    def decode_labels(self, outputs: FloatArray) -> list[Label]:
        """Computes the cosine of each pair, as `compute_values` does."""
        values: list[Label] = compute_cosines(outputs)[:, 0].tolist()
        return values


def compute_cosines(vectors: FloatArray) -> FloatArray:
    """Computes the cosine of the two unit vectors of each pair.

    `vectors` are float [pairs, 2, width]. The result is float [pairs, 1].
    """
    products = vectors[:, 0] * vectors[:, 1]
    sums: FloatArray = np.sum(products, axis=-1, keepdims=True)
    return sums


def concatenate_outputs(batches: Iterable[LogitsBatch]) -> FloatArray:
    """Returns the outputs of all batches, [records, ...]."""
    return np.concatenate([outputs for _, outputs in batches])


def pool_logits(logits: FloatArray, starts: Sequence[int]) -> FloatArray:
    """Averages the logits of a text's windows into one vector for each text.

    Examples:
        The first text has two windows, and the second text has one:

        >>> logits = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 6.0]])
        >>> pool_logits(logits, starts=[0, 2]).tolist()
        [[2.0, 1.0], [5.0, 6.0]]

    Args:
        logits: float [windows, labels]. The windows of a text are consecutive.
        starts: int [texts], index of each text's first window.

    Returns:
        float64 [texts, labels].
    """
    counts = np.diff([*starts, len(logits)])
    sums = np.add.reduceat(logits.astype(np.float64), starts)
    means: FloatArray = sums / counts[:, None]
    return means


def pool_batches(
    batches: Iterable[LogitsBatch], starts: Sequence[int]
) -> Iterator[LogitsBatch]:
    """Yields a single batch, which contains the pooled logits of all texts.

    `starts` is the index of each text's first window, int [texts].
    """
    features, logits = zip(*batches, strict=True)
    names = {"label_ids", "is_real_example"} & features[0].keys()
    yield (
        {
            name: np.concatenate(
                [batch_features[name] for batch_features in features]
            )[starts]
            for name in names
        },
        pool_logits(np.concatenate(logits), starts).astype(np.float32),
    )
