"""Combines the outputs for the windows of a long text into one prediction.

This module imports no TensorFlow.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

Batch = tuple[Mapping[str, np.ndarray], np.ndarray]


def pool(logits: np.ndarray, starts: Sequence[int]) -> np.ndarray:
    """Averages the logits of a text's windows into one vector for each text.

    Args:
        logits: float [windows, labels]. The windows of a text are consecutive.
        starts: int [texts], index of each text's first window.

    Returns:
        float64 [texts, labels].
    """
    counts = np.diff([*starts, len(logits)])
    sums = np.add.reduceat(logits.astype(np.float64), starts)
    return sums / counts[:, None]


def pool_batches(
    batches: Iterable[Batch], starts: Sequence[int]
) -> Iterator[Batch]:
    """Yields a single batch, which contains the pooled logits of all texts.

    Args:
        batches: pairs (features, logits) of windows.
        starts: int [texts], index of each text's first window.
    """
    features, logits = zip(*batches, strict=True)
    names = {"label_ids", "is_real_example"} & features[0].keys()
    yield (
        {
            name: np.concatenate([each[name] for each in features])[starts]
            for name in names
        },
        pool(np.concatenate(logits), starts).astype(np.float32),
    )
