"""Pairs of texts as inputs, and their scores on one scale."""

import numpy as np
import pytest

from data.classification import pair_features
from data.classification.classification_examples import InputExample
from data.text.tokenization import FullTokenizer
from tests.support.paths import SAMPLES


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0, 2.5, 5], [0, 0.5, 1]),
        ([-1, 0.5, 1], [-1, 0.5, 1]),
        ([None, None], [None, None]),
    ],
)
def test_features_are_of_both_texts(scores, expected):
    tokenizer = FullTokenizer(SAMPLES / "vocab.txt")
    examples = [
        InputExample(row, "the boat", "a", score)
        for row, score in enumerate(scores)
    ]
    max_score = pair_features.find_max_score(examples)
    features = [
        *pair_features.create_pair_features(examples, 5, tokenizer, max_score)
    ]
    assert [feature.label_id for feature in features] == expected
    ids = np.array(features[0].input_ids).reshape(2, 5)
    second = tokenizer.convert_ids_to_tokens(ids[1].tolist())
    assert second[:3] == ["[CLS]", "a", "[SEP]"]
    assert features[0].input_mask == [1, 1, 1, 1, 0, 1, 1, 1, 0, 0]


def pairs_of(*scores):
    """Returns a pair of texts for each score."""
    return [InputExample(0, "a", "b", score) for score in scores]


@pytest.mark.parametrize(
    ("scores", "max_score"), [((1, 4.5), 5), ((0, 1), 1), ((None, None), 1)]
)
def test_a_score_above_1_is_on_the_scale_to_5(scores, max_score):
    assert pair_features.find_max_score(pairs_of(*scores)) == max_score


def test_scores_below_the_end_of_the_scale_are_on_it():
    pair_features.check_scale("dev", pairs_of(0, 1, None), max_score=5)


@pytest.mark.parametrize("scores", [(1, 4.5), (-2, 1)])
def test_a_set_with_scores_off_the_scale_is_named(scores):
    least, largest = scores
    with pytest.raises(
        ValueError,
        match=f"scores of the dev set are from {least} to {largest}",
    ):
        pair_features.check_scale("dev", pairs_of(*scores), max_score=1)
