"""The scores of pairs of similar texts."""

import pytest

from data.classification import similar_pairs
from data.classification.classification_examples import InputExample


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
