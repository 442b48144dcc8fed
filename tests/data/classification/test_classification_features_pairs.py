"""The inputs of pairs of texts, which the network reads separately."""

import pytest

from data.classification.classification_examples import InputExample
from data.classification.classification_features import create_pair_features
from data.text.tokenization import FullTokenizer
from tests.support.paths import SAMPLES

MAX_SEQ_LENGTH = 5


def create_features(tokenizer, scores=(None,), max_score=1):
    """Returns the features of the same two texts, once for each score."""
    examples = [
        InputExample(row, "the boat", "a", score)
        for row, score in enumerate(scores)
    ]
    return [
        *create_pair_features(examples, MAX_SEQ_LENGTH, tokenizer, max_score)
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
