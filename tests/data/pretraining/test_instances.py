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
