"""Outputs, features and the expected value of each loss, drawn from a seed.

For example:

    loss, outputs, features, expected = span_case()
    _, other_outputs, _, _ = span_case(seed=1)
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from data.arrays import FloatArray, IntArray
from modeling.base_loss import BatchLoss
from modeling.losses import (
    ClassifierLoss,
    CosineLoss,
    MultiLabelLoss,
    PretrainingLoss,
    RankingLoss,
    RegressionLoss,
    SpanLoss,
    TokenLoss,
)

# (loss, outputs, features, expected value of the loss)
Case: TypeAlias = tuple[BatchLoss[Any], Any, dict[str, Any], float]

B, T, P, L = 6, 5, 3, 4


def cross_entropy(logits: FloatArray, labels: IntArray) -> FloatArray:
    """Returns the cross entropy of each row of logits [..., classes]."""
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.take_along_axis(log_probs, labels[..., None], -1)[..., 0]


class Draws:
    """Draws the arrays of a case. Each case begins anew with its seed."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def logits(self, *shape: int) -> FloatArray:
        return self._rng.normal(size=shape)

    def labels(self, high: int, *shape: int) -> IntArray:
        return self._rng.integers(0, high, size=shape).astype("int32")


def masked_lm_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs = {
        "masked_lm_logits": draws.logits(B, P, 11),
        "next_sentence_logits": draws.logits(B, 2),
    }
    features = {
        "masked_lm_ids": draws.labels(11, B, P),
        "masked_lm_weights": draws.labels(2, B, P).astype("float32"),
        "next_sentence_labels": draws.labels(2, B, 1),
    }
    per_word = cross_entropy(
        outputs["masked_lm_logits"], features["masked_lm_ids"]
    )
    weights = features["masked_lm_weights"].astype("float64")
    expected = (per_word * weights).sum() / (weights.sum() + 1e-5)
    per_pair = cross_entropy(
        outputs["next_sentence_logits"], features["next_sentence_labels"][:, 0]
    )
    return PretrainingLoss(), outputs, features, expected + per_pair.mean()


def classifier_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs, label_ids = draws.logits(B, L), draws.labels(L, B)
    expected = cross_entropy(outputs, label_ids).mean()
    return ClassifierLoss(), outputs, {"label_ids": label_ids}, expected


def padded_classifier_case(seed: int = 0) -> Case:
    loss, outputs, features, _ = classifier_case(seed)
    is_real = np.array([1, 1, 0, 1, 0, 1], "int32")
    expected = cross_entropy(outputs, features["label_ids"])[is_real == 1]
    features["is_real_example"] = is_real
    return loss, outputs, features, expected.mean()


def weighted_classifier_case(seed: int = 0) -> Case:
    _, outputs, features, _ = padded_classifier_case(seed)
    by_class = np.array([0.5, 2.0, 3.0, 0.25])
    label_ids = features["label_ids"]
    weights = by_class[label_ids] * features["is_real_example"]
    expected = (weights * cross_entropy(outputs, label_ids)).sum()
    loss = ClassifierLoss(by_class.tolist())
    return loss, outputs, features, expected / weights.sum()


def span_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs = {
        "start_logits": draws.logits(B, T),
        "end_logits": draws.logits(B, T),
    }
    features = {
        "start_positions": draws.labels(T, B),
        "end_positions": draws.labels(T, B),
    }
    start = cross_entropy(outputs["start_logits"], features["start_positions"])
    end = cross_entropy(outputs["end_logits"], features["end_positions"])
    return SpanLoss(), outputs, features, (start.mean() + end.mean()) / 2


def token_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs = draws.logits(B, T, L)
    features = {
        "label_ids": draws.labels(L, B, T),
        "label_weights": draws.labels(2, B, T).astype("float32"),
    }
    weights = features["label_weights"].astype("float64")
    total = (cross_entropy(outputs, features["label_ids"]) * weights).sum()
    return TokenLoss(), outputs, features, total / (weights.sum() + 1e-5)


def regression_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs, label_ids = draws.logits(B, 1), draws.logits(B).astype("float32")
    expected = np.mean((outputs[:, 0] - label_ids) ** 2)
    return RegressionLoss(), outputs, {"label_ids": label_ids}, expected


def multi_label_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs, label_ids = draws.logits(B, L), draws.labels(2, B, L)
    prob = 1 / (1 + np.exp(-outputs))
    per_label = np.where(label_ids == 1, -np.log(prob), -np.log(1 - prob))
    expected = per_label.mean(-1).mean()
    return MultiLabelLoss(), outputs, {"label_ids": label_ids}, expected


def ranking_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    outputs = draws.logits(B, 1)
    label_ids = np.array([0, 1, 2, 0.5, 0, 1], "float32")
    prob, target = 1 / (1 + np.exp(-outputs[:, 0])), np.minimum(label_ids, 1)
    expected = -target * np.log(prob) - (1 - target) * np.log(1 - prob)
    return RankingLoss(), outputs, {"label_ids": label_ids}, expected.mean()


def unit_vectors(draws: Draws) -> FloatArray:
    """Returns pairs of vectors of length 1, [B, 2, 4]."""
    vectors = draws.logits(B, 2, 4)
    units: FloatArray = vectors / np.linalg.norm(
        vectors, axis=-1, keepdims=True
    )
    return units


def cosine_case(seed: int = 0) -> Case:
    draws = Draws(seed)
    vectors, label_ids = unit_vectors(draws), draws.logits(B).astype("float32")
    errors = (vectors[:, 0] * vectors[:, 1]).sum(-1) - label_ids
    return CosineLoss(), vectors, {"label_ids": label_ids}, (errors**2).mean()


def with_ids(features: Mapping[str, Any]) -> dict[str, Any]:
    """Returns features with the ids, whose shape a loss reads."""
    return {**features, "input_ids": np.zeros((B, T), "int32")}
