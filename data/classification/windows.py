"""Combines the outputs for the windows of a long text into one prediction.

This module imports no TensorFlow.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from files import flags

Batch = tuple[Mapping[str, np.ndarray], np.ndarray]

# Probabilities are clipped to this range before they become logits, because the
# logits of 0 and 1 are not finite.
LOWEST, HIGHEST = 1e-37, 1 - 2**-24


@dataclasses.dataclass(frozen=True, kw_only=True)
class WindowOptions:
    """Options for splitting a long text into windows, to classify it."""

    doc_stride: int = flags.head(
        0,
        "Split a long text into windows of --max_seq_length that start this "
        "many WordPieces apart. 0 reads only the text's beginning, as Google's "
        "code does.",
        at_least=0,
    )
    window_pooling: str = flags.head(
        "mean",
        "With --doc_stride, compute a text's logits as the mean or as the "
        "maximum of the logits of its windows.",
        choices=("mean", "max"),
    )


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
    logits: np.ndarray,
    starts: Sequence[int],
    output_mode: str,
    window_pooling: str,
) -> np.ndarray:
    """Pools the logits of a text's windows into one vector for each text.

    For "classification", the function pools log probabilities instead of
    logits, because they can also be computed from the probabilities that an
    exported model returns.

    Args:
        logits: float [windows, labels]. The windows of a text are consecutive.
        starts: int [texts], index of each text's first window.
        output_mode: "classification", "multilabel" or "regression".
        window_pooling: "mean" or "max".

    Returns:
        float64 [texts, labels].
    """
    logits = logits.astype(np.float64)
    if output_mode == "classification":
        logits = _log_softmax(logits)
    if window_pooling == "max":
        return np.maximum.reduceat(logits, starts)
    counts = np.diff([*starts, len(logits)])
    return np.add.reduceat(logits, starts) / counts[:, None]


def pool_batches(
    batches: Iterable[Batch], starts: Sequence[int], *how: str
) -> Iterator[Batch]:
    """Yields a single batch, which contains the pooled logits of all texts.

    Args:
        batches: pairs (features, logits) of windows.
        starts: int [texts], index of each text's first window.
        *how: the arguments `output_mode` and `window_pooling` of `pool`.
    """
    features, logits = zip(*batches, strict=True)
    names = {"label_ids", "is_real_example"} & features[0].keys()
    yield (
        {
            name: np.concatenate([each[name] for each in features])[starts]
            for name in names
        },
        pool(np.concatenate(logits), starts, *how).astype(np.float32),
    )


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
