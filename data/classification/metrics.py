"""Scores predictions: F1 of labels, MRR of rankings, recall of vectors.

scikit-learn and SciPy compute most metrics.
"""

import functools
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from absl import logging
from numpy.typing import ArrayLike

from data.arrays import FloatArray, LabelArray
from data.classification.label_codec import LabelCodec, compute_cosines
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)
from model_folders.scores import LabelScores, Scores

# {value of --output_mode: names of the metrics that score a user's own table},
# the main metric first. To add a metric, define it in `_create_metrics`, and
# add its name here, or to a task's `metrics` in glue_tasks.py.
METRICS_OF_MODE: dict[OutputMode, tuple[str, ...]] = {
    CLASSIFICATION: ("f1_macro", "eval_accuracy"),
    MULTILABEL: ("f1_macro", "f1_micro", "eval_accuracy"),
    REGRESSION: ("spearman", "pearson"),
}

# The names of the metrics that `score_ranking` computes, the main metric first.
RANKING_METRICS = ("mrr_10", "ndcg_10")
# MRR@10 and nDCG@10 consider only the 10 best-ranked passages of a query.
_RANKING_DEPTH = 10
# Number of pairs that `compute_recall_at_1` compares with all others in one
# product.
_PAIRS_AT_ONCE = 1024

# A function (examples, gold_labels, predictions) -> scores, such as
# `ClassificationProcessor.score`. All the examples have a label, and
# `LabelCodec.encode_labels` has converted their right and predicted labels.
ScoreFunction: TypeAlias = Callable[
    [Sequence[Any], LabelArray, LabelArray], Scores
]
# A function (gold_labels, predictions) -> score.
_Metric: TypeAlias = Callable[[LabelArray, LabelArray], float]


class Labeled(Protocol):
    """An example that may have a label."""

    @property
    def label(self) -> object:
        """The label, None if it is unknown."""


def score_labeled(
    examples: Sequence[Labeled],
    predicted: Sequence[object],
    codec: LabelCodec,
    score: ScoreFunction,
) -> Scores:
    """Scores the predictions for the examples whose right label is known.

    Args:
        examples: the examples of a dev set, all of which have a label, or of a
            test set, in which an unknown label is None.
        predicted: the predicted label of each example.
        codec: converts the right and the predicted labels for `score`.
        score: computes the scores.

    Returns:
        the scores, which are empty if no label is known. If some labels are
        unknown, `num_without_label` is the number of such examples.
    """
    pairs = zip(examples, predicted, strict=True)
    labeled_pairs = [pair for pair in pairs if pair[0].label is not None]
    if not labeled_pairs:
        return Scores()
    labeled, predicted_labels = zip(*labeled_pairs, strict=True)
    gold_labels = [example.label for example in labeled]
    scores = score(
        labeled,
        codec.encode_labels(gold_labels),
        codec.encode_labels(predicted_labels),
    )
    num_without_label = len(examples) - len(labeled_pairs)
    if not num_without_label:
        return scores
    # Only test sets may lack labels.
    logging.warning(
        "%d of %d test examples have no label and are not scored",
        num_without_label,
        len(examples),
    )
    overall = {**scores.overall, "num_without_label": num_without_label}
    return Scores(overall, scores.by_label)


def compute_metrics(
    names: Collection[str],
    gold_labels: ArrayLike,
    predictions: ArrayLike,
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

    Returns:
        {name: value}, in the order of `names`.
    """
    gold_labels = np.asarray(gold_labels)
    predictions = np.asarray(predictions)
    return {
        name: float(_create_metrics()[name](gold_labels, predictions))
        for name in names
    }


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


def score_each_label(
    gold_labels: LabelArray, predictions: LabelArray, labels: Sequence[str]
) -> list[LabelScores]:
    """Computes the precision, recall, F1 and support of each label.

    Args:
        gold_labels: right labels: int [examples], or [examples, labels] of 0
            and 1.
        predictions: predicted labels, in the shape of `gold_labels`.
        labels: names of all labels, in the order of their ids.
    """
    # Load scikit-learn late, because it needs seconds to load, and --help
    # should not wait for it.
    from sklearn.metrics import precision_recall_fscore_support

    # A single column contains 1 for the only label, and 0 without it.
    indices = range(len(labels)) if len(labels) > 1 else [1]
    rates = precision_recall_fscore_support(
        gold_labels, predictions, labels=indices, zero_division=0
    )
    columns = [values.tolist() for values in rates]
    return [*map(LabelScores, labels, *columns)]


def score_ranking(
    queries: Sequence[str], relevances: LabelArray, predictions: LabelArray
) -> dict[str, float]:
    """Computes MRR@10 and nDCG@10, each as the mean over the queries.

    The function skips queries without a relevant passage, and logs their
    number. Passages with equal predictions are ranked by ascending relevance,
    so that ties do not improve the metrics. The gain of a passage is its
    relevance, or 0 if the relevance is negative, as in trec_eval.

    Examples:
        The relevant passage is the second for "a", and the first for "b", so
        the reciprocal ranks are 0.5 and 1:

        >>> queries = ["a", "a", "b"]
        >>> score_ranking(queries, np.array([0, 1, 2]), np.array([3, 1, 2]))
        {'mrr_10': 0.75, 'ndcg_10': 0.8154648767857288}

    Args:
        queries: query of each pair of a query and a passage. The pairs of a
            query need not be successive.
        relevances: relevance of the passage in each pair, float [pairs].
        predictions: predicted relevance, float [pairs].

    Returns:
        {"mrr_10": MRR@10, "ndcg_10": nDCG@10}, both NaN if no query has a
        relevant passage.
    """
    indices_of_query: dict[str, list[int]] = {}
    for pair_index, query in enumerate(queries):
        indices_of_query.setdefault(query, []).append(pair_index)
    scores = []
    for pair_indices in indices_of_query.values():
        gains = np.maximum(relevances[pair_indices], 0)
        if gains.any():
            scores.append(_score_query(gains, predictions[pair_indices]))
    if len(scores) < len(indices_of_query):
        logging.warning(
            "%d of %d queries have no relevant passage. They are skipped",
            len(indices_of_query) - len(scores),
            len(indices_of_query),
        )
    means = [np.nan, np.nan]
    if scores:
        means = np.mean(scores, axis=0).tolist()
    return dict(zip(RANKING_METRICS, means, strict=True))


def _score_query(
    gains: LabelArray, predictions: LabelArray
) -> tuple[float, float]:
    """Returns RR@10 and nDCG@10 of the passages of a query.

    `gains` are at least 0, one of them above 0. Both arrays are [passages].
    """
    order = np.lexsort((gains, -predictions))[:_RANKING_DEPTH]
    relevant = np.flatnonzero(gains[order])
    ideal = np.sort(gains)[::-1][:_RANKING_DEPTH]
    discounts = 1 / np.log2(np.arange(len(ideal)) + 2)
    reciprocal_rank = 1 / (relevant[0] + 1) if len(relevant) else 0
    ndcg = gains[order] @ discounts / (ideal @ discounts)
    return float(reciprocal_rank), float(ndcg)


def compute_recall_at_1(
    vectors: FloatArray, partners: Sequence[str | None]
) -> float:
    """Computes recall@1: how often a text is nearest to its own partner.

    A pair is a hit if its first text is nearer to its second text than to the
    second text of every other pair. If all vectors are equal, the result is 0.

    Examples:
        The first text of each pair is near to the second text of the pair, or
        to the second text of the other pair:

        >>> up, right = [0.0, 1.0], [1.0, 0.0]
        >>> partners = ["a", "b"]
        >>> compute_recall_at_1(np.array([[up, up], [right, right]]), partners)
        1.0
        >>> compute_recall_at_1(np.array([[up, right], [right, up]]), partners)
        0.0

    Args:
        vectors: unit vectors of the two texts of each pair, float
            [pairs, 2, width].
        partners: second text of each pair. Pairs whose second texts are equal
            are not compared with each other.

    Returns:
        a fraction from 0 to 1.
    """
    _, partner_indices = np.unique(np.array(partners, str), return_inverse=True)
    own = compute_cosines(vectors)
    num_hits = 0
    for start in range(0, len(vectors), _PAIRS_AT_ONCE):
        block = slice(start, start + _PAIRS_AT_ONCE)
        similarities = vectors[block, 0] @ vectors[:, 1].T
        similarities[partner_indices[block, None] == partner_indices] = -np.inf
        # Require a margin, because equal cosines may differ by rounding errors.
        num_hits += (own[block, 0] > similarities.max(-1) + 1e-6).sum()
    return float(num_hits / len(vectors))
