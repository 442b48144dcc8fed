"""Combines the outputs for the windows of a long text into one prediction.

This module imports no TensorFlow.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

Batch = tuple[Mapping[str, np.ndarray], np.ndarray]


def to_probabilities(logits: np.ndarray, output_mode: str) -> np.ndarray:
    """Converts a classifier's logits to probabilities, float32 [..., labels].

    In regression, `logits` are predicted values, which the function returns as
    float32. `output_mode` is "classification", "multilabel" or "regression".
    """
    if output_mode == "multilabel":
        logits = -np.logaddexp(0, -logits)
    elif output_mode == "classification":
        logits = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    else:
        return logits.astype(np.float32)
    return np.exp(logits).astype(np.float32)


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
