"""The recall of vectors: how often a text is nearest to its partner."""

import numpy as np
import pytest

from data.classification.metrics import compute_recall_at_1

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
    assert compute_recall_at_1(vectors, TEXTS) == recall


def test_equal_vectors_have_a_recall_of_zero(vectors):
    same = np.ones_like(vectors) / 8**0.5
    assert compute_recall_at_1(same, TEXTS) == 0


def test_either_of_two_equal_texts_is_the_partner(vectors, recall):
    twice = np.concatenate([vectors, vectors])
    assert compute_recall_at_1(twice, 2 * TEXTS) == recall
