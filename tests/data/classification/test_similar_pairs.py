"""Pairs of similar texts: their scores, their inputs and their cosines."""

import numpy as np
import pytest

from data.classification import similar_pairs
from data.classification.classification_examples import InputExample
from data.text.tokenization import FullTokenizer
from tests.support.paths import SAMPLES


def pairs_of(*scores):
    """Returns a pair of texts for each score."""
    return [InputExample(0, "a", "b", score) for score in scores]


@pytest.mark.parametrize(
    ("scores", "max_score"), [((1, 4.5), 5), ((0, 1), 1), ((None, None), 1)]
)
def test_the_scale_ends_at_5_only_if_a_score_is_above_1(scores, max_score):
    assert similar_pairs.guess_max_score(pairs_of(*scores)) == max_score


def test_scores_below_the_end_of_the_scale_are_on_it():
    similar_pairs.check_scale("dev", pairs_of(0, 1, None), max_score=5)


@pytest.mark.parametrize("scores", [(1, 4.5), (-2, 1)])
def test_a_set_with_scores_off_the_scale_is_named(scores):
    least, largest = scores
    with pytest.raises(
        ValueError,
        match=f"dev set are from {least} to {largest}",
    ):
        similar_pairs.check_scale("dev", pairs_of(*scores), max_score=1)


MAX_SEQ_LENGTH = 5


def create_features(tokenizer, scores=(None,), max_score=1):
    """Returns the features of the same two texts, once for each score."""
    examples = [
        InputExample(row, "the boat", "a", score)
        for row, score in enumerate(scores)
    ]
    return [
        *similar_pairs.create_pair_features(
            examples, MAX_SEQ_LENGTH, tokenizer, max_score
        )
    ]


@pytest.fixture(scope="module")
def tokenizer():
    """The tokenizer of the samples."""
    return FullTokenizer(SAMPLES / "vocab.txt")


@pytest.mark.parametrize(
    ("scores", "max_score", "expected"),
    [
        ([0, 2.5, 5], 5, [0, 0.5, 1]),
        ([-1, 0.5, 1], 1, [-1, 0.5, 1]),
        ([None, None], 1, [None, None]),
    ],
)
def test_the_label_of_features_is_the_share_of_the_largest_score(
    tokenizer, scores, max_score, expected
):
    features = create_features(tokenizer, scores, max_score)
    assert [feature.label_id for feature in features] == expected


def test_features_have_the_wordpieces_of_one_text_after_the_other(tokenizer):
    (features,) = create_features(tokenizer)
    pieces = tokenizer.convert_ids_to_tokens(features.input_ids)
    assert pieces == [
        *("[CLS]", "the", "boat", "[SEP]", "[PAD]"),
        *("[CLS]", "a", "[SEP]", "[PAD]", "[PAD]"),
    ]
    assert features.input_mask == [1, 1, 1, 1, 0, 1, 1, 1, 0, 0]


def test_the_label_of_a_pair_is_the_cosine_of_its_vectors():
    vectors = np.array([[[1.0, 0.0], [0.6, 0.8]], [[0.0, 1.0], [0.0, 1.0]]])
    codec = similar_pairs.CosineCodec()
    assert codec.decode_labels(vectors) == pytest.approx([0.6, 1.0])
    assert codec.compute_values(vectors).shape == (2, 1)


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
    assert similar_pairs.recall_1(vectors, TEXTS) == recall


def test_equal_vectors_have_a_recall_of_zero(vectors):
    same = np.ones_like(vectors) / 8**0.5
    assert similar_pairs.recall_1(same, TEXTS) == 0


def test_either_of_two_equal_texts_is_the_partner(vectors, recall):
    twice = np.concatenate([vectors, vectors])
    assert similar_pairs.recall_1(twice, 2 * TEXTS) == recall
