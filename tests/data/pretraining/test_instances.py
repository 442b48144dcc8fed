import random

import pytest

from data.pretraining import instances as pretraining


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 7, 8, 9, 100, 1025])
def test_shuffle_is_that_of_random(length):
    expected, shuffled = list(range(length)), list(range(length))
    rng, other = random.Random(length), random.Random(length)
    rng.shuffle(expected)
    pretraining.shuffle(shuffled, other)
    assert shuffled == expected
    assert other.random() == rng.random()


def test_truncate_seq_pair_draws_as_the_original():
    tokens_a, tokens_b = list(range(10)), list(range(20, 40))
    expected_a, expected_b = list(tokens_a), list(tokens_b)
    rng = random.Random(3)
    while len(expected_a) + len(expected_b) > 13:
        longer = expected_a if len(expected_a) > len(expected_b) else expected_b
        longer.pop(0 if rng.random() < 0.5 else -1)
    drawn = random.Random(3)
    pretraining.truncate_seq_pair(tokens_a, tokens_b, 13, drawn)
    assert (tokens_a, tokens_b) == (expected_a, expected_b)
    assert drawn.random() == rng.random()
