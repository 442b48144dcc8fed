"""Scores ranked passages, and vectors of pairs of texts."""

from collections.abc import Sequence

import numpy as np
from absl import logging

from data.arrays import FloatArray, LabelArray
from data.classification.classification_examples import Label
from data.classification.label_codec import LabelCodec

# MRR@10 and nDCG@10 consider only the 10 best-ranked passages of a query.
_RANKING_DEPTH = 10
# Number of pairs that `recall_1` compares with all others in one product.
_ROWS_AT_ONCE = 1024


def score_ranking(
    queries: Sequence[str], labels: LabelArray, predictions: LabelArray
) -> tuple[float, float]:
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
        (0.75, 0.8154648767857288)

    Args:
        queries: query of each row. The rows of a query need not be successive.
        labels: relevance of the passage in each row, float [rows].
        predictions: predicted relevance, float [rows].

    Returns:
        (MRR@10, nDCG@10), both NaN if no query has a relevant passage.
    """
    rows_of_query: dict[str, list[int]] = {}
    for row_index, query in enumerate(queries):
        rows_of_query.setdefault(query, []).append(row_index)
    scores = []
    for rows in rows_of_query.values():
        gains = np.maximum(labels[rows], 0)
        if gains.any():
            scores.append(_score_query(gains, predictions[rows]))
    if len(scores) < len(rows_of_query):
        logging.warning(
            "%d of %d queries have no relevant passage. They are skipped",
            len(rows_of_query) - len(scores),
            len(rows_of_query),
        )
    if not scores:
        return np.nan, np.nan
    mean_rr, mean_ndcg = np.mean(scores, axis=0).tolist()
    return mean_rr, mean_ndcg


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


def cosines(vectors: FloatArray) -> FloatArray:
    """Computes the cosine of the two unit vectors of each pair.

    `vectors` are float [pairs, 2, width]. The result is float [pairs, 1].
    """
    products = vectors[:, 0] * vectors[:, 1]
    sums: FloatArray = np.sum(products, axis=-1, keepdims=True)
    return sums


class CosineCodec(LabelCodec):
    """Turns the vectors of pairs into the cosine of each pair."""

    def __init__(self) -> None:
        super().__init__("regression", None)

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Computes the cosines of vectors, as in `cosines`."""
        return cosines(outputs)

    def decode_labels(self, outputs: FloatArray) -> list[Label]:
        """Computes the cosines of vectors, as in `cosines`."""
        values: list[Label] = cosines(outputs)[:, 0].tolist()
        return values


def recall_1(vectors: FloatArray, partners: Sequence[str | None]) -> float:
    """Computes recall@1: how often a text is nearest to its own partner.

    A pair is a hit if its first text is nearer to its second text than to the
    second text of every other pair. If all vectors are equal, the result is 0.

    Examples:
        The first text of each pair is near to the second text of the pair, or
        to the second text of the other pair:

        >>> up, right = [0.0, 1.0], [1.0, 0.0]
        >>> recall_1(np.array([[up, up], [right, right]]), ["a", "b"])
        1.0
        >>> recall_1(np.array([[up, right], [right, up]]), ["a", "b"])
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
    own = cosines(vectors)
    num_hits = 0
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        similarities = vectors[rows, 0] @ vectors[:, 1].T
        similarities[partner_indices[rows, None] == partner_indices] = -np.inf
        # Require a margin, because equal cosines may differ by rounding errors.
        num_hits += (own[rows, 0] > similarities.max(-1) + 1e-6).sum()
    return float(num_hits / len(vectors))
