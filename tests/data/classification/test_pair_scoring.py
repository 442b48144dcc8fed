"""Scores of rankings, and of vectors of pairs of texts."""

import numpy as np
import pytest
from sklearn import metrics

from data.classification import pair_scoring


def test_ranks_and_gains_are_those_of_the_definitions(caplog):
    rng = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(6) for _ in range(15)]
    gains = rng.integers(0, 4, len(queries)) * (rng.random(len(queries)) < 0.2)
    gains[:15] = 0
    gains[15:30] = np.eye(15)[14]
    scores = rng.normal(size=len(queries))
    # Beyond the tenth place.
    scores[29] = -9.0
    actual = pair_scoring.score_ranking(queries, gains, scores)
    shape = 6, 15
    rows = [
        gains_and_scores
        for gains_and_scores in zip(
            gains.reshape(shape), scores.reshape(shape), strict=True
        )
        if gains_and_scores[0].any()
    ]
    ndcg = np.mean([metrics.ndcg_score([g], [s], k=10) for g, s in rows])
    firsts = [np.flatnonzero(g[np.argsort(-s)][:10])[:1] for g, s in rows]
    assert firsts[0].size == 0
    mrr = np.mean([1 / (f[0] + 1) if f.size else 0 for f in firsts])
    assert actual == pytest.approx((mrr, ndcg))
    assert f"{6 - len(rows)} of 6 queries have no relevant" in caplog.text


def test_equal_predictions_do_not_improve_a_rank():
    mrr, _ = pair_scoring.score_ranking(
        ["q"] * 3, np.array([1, 0, 0]), np.zeros(3)
    )
    assert mrr == pytest.approx(1 / 3)


def test_queries_without_a_relevant_passage_have_no_score():
    scores = pair_scoring.score_ranking(["q"], np.array([0]), np.array([1.0]))
    assert np.isnan(scores).all()


def test_the_label_of_a_pair_is_the_cosine_of_its_vectors():
    vectors = np.array([[[1.0, 0.0], [0.6, 0.8]], [[0.0, 1.0], [0.0, 1.0]]])
    codec = pair_scoring.CosineCodec()
    assert codec.decode_labels(vectors) == pytest.approx([0.6, 1.0])
    assert codec.probabilities(vectors).shape == (2, 1)


TEXTS = [*map(str, range(1500))]


@pytest.fixture(scope="module")
def vectors():
    """Vectors of pairs, of which 900 have the same vector twice."""
    pairs = np.random.default_rng(0).normal(size=(1500, 2, 8))
    pairs /= np.linalg.norm(pairs, axis=-1, keepdims=True)
    pairs[:900, 1] = pairs[:900, 0]
    return pairs


@pytest.fixture(scope="module")
def recall(vectors):
    """The share of the texts whose partner is the nearest text."""
    nearest = (vectors[:, 0] @ vectors[:, 1].T).argmax(-1)
    share = np.mean(nearest == np.arange(1500))
    assert 0.6 <= share < 0.7
    return share


def test_recall_counts_the_texts_whose_partner_is_found(vectors, recall):
    assert pair_scoring.recall_1(vectors, TEXTS) == recall


def test_vectors_that_are_all_the_same_find_nothing(vectors):
    same = np.ones_like(vectors) / 8**0.5
    assert pair_scoring.recall_1(same, TEXTS) == 0


def test_either_of_two_equal_texts_is_the_partner(vectors, recall):
    twice = np.concatenate([vectors, vectors])
    assert pair_scoring.recall_1(twice, 2 * TEXTS) == recall
