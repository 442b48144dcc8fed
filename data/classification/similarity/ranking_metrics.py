"""Computes the metrics of rankings, such as MRR, over the queries of a set."""

from collections.abc import Sequence

import numpy as np
from absl import logging

from data.arrays import LabelArray

# MRR@10 and nDCG@10 consider only the 10 best-ranked passages of a query.
_RANKING_DEPTH = 10


def score_ranking(
    queries: Sequence[str], relevances: LabelArray, predictions: LabelArray
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
        queries: query of each pair of a query and a passage. The pairs of a
            query need not be successive.
        relevances: relevance of the passage in each pair, float [pairs].
        predictions: predicted relevance, float [pairs].

    Returns:
        (MRR@10, nDCG@10), both NaN if no query has a relevant passage.
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
