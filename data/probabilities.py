"""Turns logits into probabilities, and probabilities into logarithms."""

import numpy as np

from data.arrays import FloatArray
from model_folders.output_modes import CLASSIFICATION, MULTILABEL, OutputMode

# In a multi-label classification, a label is predicted if its probability is
# above this one.
MULTILABEL_THRESHOLD = 0.5


def to_probabilities(logits: FloatArray, output_mode: OutputMode) -> FloatArray:
    """Converts a classifier's logits to probabilities, float [..., labels].

    In regression, `logits` are predicted values, which the function returns.
    `output_mode` is "classification", "multilabel" or "regression".
    """
    if output_mode == MULTILABEL:
        doubles = logits.astype(np.float64)
        return np.exp(-np.logaddexp(0, -doubles)).astype(logits.dtype)
    if output_mode == CLASSIFICATION:
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probabilities: FloatArray = powers / powers.sum(axis=-1, keepdims=True)
        return probabilities
    return logits


def to_log_probabilities(probabilities: FloatArray) -> FloatArray:
    """Returns logarithms of probabilities, with a finite number for 0."""
    smallest = np.finfo(np.float32).tiny
    scores: FloatArray = np.log(np.maximum(probabilities, smallest))
    return scores
