"""Joins the outputs of batches and of windows, to one row for each text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from data.arrays import FeatureArrays, FloatArray

# (features, logits or values) of a batch.
LogitsBatch: TypeAlias = tuple[FeatureArrays, FloatArray]


def concatenate_outputs(batches: Iterable[LogitsBatch]) -> FloatArray:
    """Returns the outputs of all batches, [number of rows, ...]."""
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

    `starts` is as in `pool_logits`.
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
