"""The benchmarks' metrics, by scikit-learn and SciPy."""

import functools
import warnings
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

import numpy as np
from absl import logging
from numpy.typing import ArrayLike


@functools.cache
def _metrics() -> dict[str, Callable[..., float]]:
    # Imported here: both libraries take seconds, which --help should not wait
    # for.
    from scipy import stats
    from sklearn import metrics as sk

    def f1(average: str) -> Callable[..., float]:
        return functools.partial(sk.f1_score, average=average, zero_division=0)

    return {
        "accuracy": sk.accuracy_score,
        "f1": f1("binary"),
        "f1_macro": f1("macro"),
        "f1_micro": f1("micro"),
        "matthews": sk.matthews_corrcoef,
        "pearson": functools.partial(_correlation, stats.pearsonr),
        "spearman": functools.partial(_correlation, stats.spearmanr),
    }


def _correlation(
    function: Callable[..., Any], labels: np.ndarray, predictions: np.ndarray
) -> float:
    """Returns a correlation; 0 if a side is constant, where it is undefined.

    NaN if a number is not finite, or for a single example.
    """
    if len(labels) < 2 or not np.all(np.isfinite([labels, predictions])):
        return np.nan
    from scipy import stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return np.nan_to_num(function(labels, predictions).statistic)


def concatenate(
    batches: Iterable[tuple[Mapping[str, np.ndarray], np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the labels and the outputs of all batches, as two arrays.

    Args:
        batches: iterable of (features, outputs); `label_ids` is among the
            features.
    """
    labels, outputs = zip(
        *((features["label_ids"], output) for features, output in batches),
        strict=True,
    )
    return np.concatenate(labels), np.concatenate(outputs)


def compute_metrics(
    names: Collection[str], labels: ArrayLike, predictions: ArrayLike
) -> dict[str, float]:
    """Computes metrics over a whole set.

    Args:
        names: some of "accuracy" (for multi-label rows, the fraction with every
            label right), "f1" (of label 1 versus 0), "f1_macro" (mean over the
            labels), "f1_micro" (over all labels at once), "matthews"
            (correlation of classes), "pearson", "spearman" (of numbers; NaN
            where a prediction is not finite).
        labels: [examples] of int, of float for correlations; or [examples,
            labels] of 0 and 1.
        predictions: like `labels`, never logits.

    Returns:
        dict of name to float, in the order of `names`.

    Raises:
        ValueError: a name is unknown, or the arrays differ in shape or are
        empty.
    """
    labels, predictions = np.asarray(labels), np.asarray(predictions)
    if labels.shape != predictions.shape or not labels.size:
        raise ValueError(
            "labels and predictions must be of one shape, and not empty. "
            f"Received: {labels.shape} and {predictions.shape}"
        )
    unknown = set(names) - _metrics().keys()
    if unknown:
        raise ValueError(
            f"there is no metric {sorted(unknown)}; the metrics are "
            f"{sorted(_metrics())}"
        )
    return {
        name: float(_metrics()[name](labels, predictions)) for name in names
    }


def score_known(
    names: Collection[str],
    labels: Sequence[Any],
    predicted: Sequence[Any],
    label_ids: Callable[[Sequence[Any]], np.ndarray],
) -> dict[str, float]:
    """Scores the test examples whose right label is known.

    Args:
        names: of the metrics, see `compute_metrics`.
        labels: the right labels; None if unknown.
        predicted: the predicted labels.
        label_ids: converts a list of labels for `compute_metrics`.

    Returns:
        the metrics, with `num_without_label` if some are unknown; {} if there
        is nothing to score.
    """
    pairs = [
        pair
        for pair in zip(labels, predicted, strict=True)
        if pair[0] is not None
    ]
    # One number has no correlation.
    if len(pairs) < (2 if {"pearson", "spearman"} & {*names} else 1):
        return {}
    right, found = (label_ids(each) for each in zip(*pairs, strict=True))
    scores = compute_metrics(names, right, found)
    num_unknown = len(labels) - len(pairs)
    if num_unknown:
        scores["num_without_label"] = num_unknown
        logging.warning(
            "%d of %d test examples have no label and are not scored",
            num_unknown,
            len(labels),
        )
    return scores


def mean_of_classes(outputs: Sequence[np.ndarray]) -> np.ndarray:
    """Returns logits of the mean of several models' probabilities.

    Args:
        outputs: each model's logits, float [..., L], over L classes.

    Returns:
        float32 [..., L]: the logarithms of the mean probabilities.
    """
    from scipy import special

    logits = np.array(outputs, np.float64)
    log_probs = special.log_softmax(logits, axis=-1)
    mean = special.logsumexp(log_probs, axis=0) - np.log(len(outputs))
    return mean.astype(np.float32)


def mean_of_models(
    outputs: Sequence[np.ndarray], output_mode: str
) -> np.ndarray:
    """Returns the outputs of an ensemble, float [B, L].

    Args:
        outputs: each model's, float [B, L].
        output_mode: "classification" and "multilabel" average probabilities,
            "regression" averages the values.
    """
    if output_mode == "regression":
        return np.mean(outputs, axis=0)
    if output_mode == "classification":
        return mean_of_classes(outputs)
    # Each label is a choice of two: it applies or not.
    pairs = [np.stack([held, 0 * held], axis=-1) for held in outputs]
    mean = mean_of_classes(pairs)
    return mean[..., 0] - mean[..., 1]


class LossFigures:
    """Passes batches through, computing the loss on the way.

    Args:
        loss: the task's Loss.
        batches: as Task.evaluate gets them.
    """

    def __init__(self, loss: Any, batches: Iterable[Any]) -> None:
        self._loss, self._batches = loss, batches
        # {part: [(sum, weight) of each batch]}.
        self._parts: dict[str, list[tuple[float, float]]] = {}

    def __iter__(self) -> Iterator:
        """Yields the batches."""
        for features, outputs in self._batches:
            sums = self._loss.sums(outputs, features)
            weights = self._loss.weights(features)
            for name, value in sums.items():
                pair = float(value), float(weights[name])
                self._parts.setdefault(name, []).append(pair)
            yield features, outputs

    def figures(self) -> dict[str, float]:
        """Returns `eval_loss`, the mean; and `loss`, the mean over batches.

        Each is the sum over the parts of the loss; NaN if no batch was read.
        """
        if not self._parts:
            return {"eval_loss": float("nan"), "loss": float("nan")}
        figures = {"eval_loss": 0.0, "loss": 0.0}
        for pairs in self._parts.values():
            sums, weights = np.array(pairs).T
            figures["eval_loss"] += float(sums.sum() / max(weights.sum(), 1.0))
            figures["loss"] += float(np.mean(sums / np.maximum(weights, 1.0)))
        return figures
