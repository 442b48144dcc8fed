"""MRR and nDCG, against their definitions and scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from data.classification.metrics import score_ranking
from tests.support.log_lines import logged_warnings


def test_ranks_and_gains_are_those_of_the_definitions(caplog):
    rng = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(6) for _ in range(15)]
    gains = rng.integers(0, 4, len(queries)) * (rng.random(len(queries)) < 0.2)
    gains[:15] = 0
    gains[15:30] = np.eye(15)[14]
    scores = rng.normal(size=len(queries))
    # The only relevant passage of the second query is its last one, beyond
    # the tenth place.
    scores[29] = -9.0
    actual = score_ranking(queries, gains, scores)
    shape = 6, 15
    rows = [
        gains_and_scores
        for gains_and_scores in zip(
            gains.reshape(shape), scores.reshape(shape), strict=True
        )
        if gains_and_scores[0].any()
    ]
    ndcg = np.mean(
        [
            ndcg_score([row_gains], [row_scores], k=10)
            for row_gains, row_scores in rows
        ]
    )
    # The ranks from 0 of the relevant passages among the first ten.
    relevant_ranks = [
        np.flatnonzero(row_gains[np.argsort(-row_scores)][:10])
        for row_gains, row_scores in rows
    ]
    assert relevant_ranks[0].size == 0
    mrr = np.mean(
        [1 / (ranks[0] + 1) if ranks.size else 0 for ranks in relevant_ranks]
    )
    assert actual == pytest.approx({"mrr_10": mrr, "ndcg_10": ndcg})
    (warning,) = logged_warnings(caplog)
    assert f"{6 - len(rows)} of 6 queries" in warning


def test_equal_predictions_do_not_improve_a_rank():
    scores = score_ranking(["q"] * 3, np.array([1, 0, 0]), np.zeros(3))
    assert scores["mrr_10"] == pytest.approx(1 / 3)


def test_queries_without_a_relevant_passage_have_no_score():
    scores = score_ranking(["q"], np.array([0]), np.array([1.0]))
    assert np.isnan([*scores.values()]).all()
