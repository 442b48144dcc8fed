"""Computes metrics of predictions, such as F1, with scikit-learn and SciPy."""

import functools
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from data.arrays import LabelArray
from model_folders import kinds
from model_folders.kinds import OutputMode

# {value of --output_mode: names of the metrics that score a user's own table},
# the main metric first. To add a metric, define it in `_create_metrics`, and
# add its name here, or to a task's `metrics` in glue_tasks.py.
METRICS_OF_MODE: dict[OutputMode, tuple[str, ...]] = {
    kinds.CLASSIFICATION: ("f1_macro", "eval_accuracy"),
    kinds.MULTILABEL: ("f1_macro", "f1_micro", "eval_accuracy"),
    kinds.REGRESSION: ("spearman", "pearson"),
}

# A function (gold_labels, predictions) -> score.
_Metric: TypeAlias = Callable[[LabelArray, LabelArray], float]


@functools.cache
def _create_metrics() -> dict[str, _Metric]:
    """Returns {name: metric} of all metrics."""
    # Import SciPy and scikit-learn late, because they need seconds to load,
    # and --help should not wait for them.
    from scipy import stats
    from sklearn import metrics as sk

    def f1(average: str) -> _Metric:
        return functools.partial(sk.f1_score, average=average, zero_division=0)

    return {
        "eval_accuracy": sk.accuracy_score,
        "f1": f1("binary"),
        "f1_macro": f1("macro"),
        "f1_micro": f1("micro"),
        "matthews": sk.matthews_corrcoef,
        "pearson": functools.partial(_correlation, stats.pearsonr),
        "spearman": functools.partial(_correlation, stats.spearmanr),
    }


class _Correlation(Protocol):
    """A result of SciPy."""

    @property
    def statistic(self) -> float:
        """The correlation, in [-1, 1] or NaN."""


def _correlation(
    function: Callable[[LabelArray, LabelArray], _Correlation],
    gold_labels: LabelArray,
    predictions: LabelArray,
) -> float:
    """Computes a correlation with a function of SciPy.

    If all labels or all predictions are equal, the correlation is undefined,
    and the result is 0. For a single example, or if a number is not finite, the
    result is NaN.
    """
    values = [gold_labels, predictions]
    if len(gold_labels) < 2 or not np.all(np.isfinite(values)):
        return np.nan
    with warnings.catch_warnings():
        # SciPy warns about constant inputs.
        warnings.simplefilter("ignore", RuntimeWarning)
        correlation = function(gold_labels, predictions).statistic
    return float(np.nan_to_num(correlation))


def compute_metrics(
    names: Collection[str],
    gold_labels: ArrayLike,
    predictions: ArrayLike,
    labels: Sequence[str] | None = None,
) -> dict[str, float]:
    """Computes metrics of the predictions for a set of examples.

    Args:
        names: names of the metrics: "eval_accuracy" (the fraction of examples
            whose label is right, or whose labels are all right), "f1" (of label
            1 versus 0), "f1_macro" (mean over the labels), "f1_micro" (over all
            labels at once), "matthews" (correlation of classes), "pearson" and
            "spearman" (correlations of numbers, NaN if a prediction is not
            finite).
        gold_labels: right labels: int [examples], float [examples] for
            correlations, or [examples, labels] of 0 and 1.
        predictions: predicted labels, in the shape of `gold_labels`, not
            logits.
        labels: names of all labels, to add `LABEL_precision`,
            `LABEL_recall`, `LABEL_f1` and `LABEL_support` for each of
            them. None adds nothing.

    Returns:
        {name: value}, in the order of `names`.
    """
    gold_labels = np.asarray(gold_labels)
    predictions = np.asarray(predictions)
    scores = {
        name: float(_create_metrics()[name](gold_labels, predictions))
        for name in names
    }
    if labels:
        scores |= _score_each_label(gold_labels, predictions, labels)
    return scores


def _score_each_label(
    gold_labels: LabelArray, predictions: LabelArray, labels: Sequence[str]
) -> dict[str, float]:
    """Returns the precision, recall, F1 and support of each label."""
    # Load scikit-learn late, because it needs seconds to load, and --help
    # should not wait for it.
    from sklearn.metrics import precision_recall_fscore_support

    # A single column contains 1 for the only label, and 0 without it.
    indices = range(len(labels)) if len(labels) > 1 else [1]
    rates = precision_recall_fscore_support(
        gold_labels, predictions, labels=indices, zero_division=0
    )
    rate_names = ("precision", "recall", "f1", "support")
    return {
        f"{name}_{rate_name}": value
        for rate_name, values in zip(rate_names, rates, strict=True)
        for name, value in zip(labels, values.tolist(), strict=True)
    }
