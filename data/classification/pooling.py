"""Combines the outputs for the windows of a long text into one prediction.

This module imports no TensorFlow.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

Batch = tuple[Mapping[str, np.ndarray], np.ndarray]

# Probabilities are clipped to this range before they become logits, because the
# logits of 0 and 1 are not finite.
LOWEST, HIGHEST = 1e-37, 1 - 2**-24


def to_logits(probabilities: np.ndarray, output_mode: str) -> np.ndarray:
    """Converts a classifier's probabilities back to logits.

    Args:
        probabilities: float [..., labels]. In regression, these are the
            predicted values, and the function returns them unchanged.
        output_mode: "classification", "multilabel" or "regression".
    """
    if output_mode == "regression":
        return probabilities
    clipped = np.clip(probabilities.astype(np.float64), LOWEST, HIGHEST)
    logits = np.log(clipped)
    if output_mode == "multilabel":
        logits -= np.log1p(-clipped)
    return logits


def to_probabilities(logits: np.ndarray, output_mode: str) -> np.ndarray:
    """Converts a classifier's logits to probabilities, float32 [..., labels].

    In regression, `logits` are predicted values, which the function returns as
    float32. `output_mode` is "classification", "multilabel" or "regression".
    """
    if output_mode == "multilabel":
        logits = -np.logaddexp(0, -logits)
    elif output_mode == "classification":
        logits = _log_softmax(logits)
    else:
        return logits.astype(np.float32)
    return np.exp(logits).astype(np.float32)


def pool(
    logits: np.ndarray, starts: Sequence[int], output_mode: str
) -> np.ndarray:
    """Averages the logits of a text's windows into one vector for each text.

    For "classification", the function averages log probabilities instead of
    logits, because they can also be computed from the probabilities that an
    exported model returns.

    Args:
        logits: float [windows, labels]. The windows of a text are consecutive.
        starts: int [texts], index of each text's first window.
        output_mode: "classification", "multilabel" or "regression".

    Returns:
        float64 [texts, labels].
    """
    logits = logits.astype(np.float64)
    if output_mode == "classification":
        logits = _log_softmax(logits)
    counts = np.diff([*starts, len(logits)])
    return np.add.reduceat(logits, starts) / counts[:, None]


def pool_batches(
    batches: Iterable[Batch], starts: Sequence[int], output_mode: str
) -> Iterator[Batch]:
    """Yields a single batch, which contains the pooled logits of all texts.

    Args:
        batches: pairs (features, logits) of windows.
        starts: int [texts], index of each text's first window.
        output_mode: "classification", "multilabel" or "regression".
    """
    features, logits = zip(*batches, strict=True)
    names = {"label_ids", "is_real_example"} & features[0].keys()
    yield (
        {
            name: np.concatenate([each[name] for each in features])[starts]
            for name in names
        },
        pool(np.concatenate(logits), starts, output_mode).astype(np.float32),
    )


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
