"""Shuffles, compared with Python's own."""

import random

import pytest

from data.pretraining.instances import shuffle


def test_shuffle_keeps_the_items():
    items = [*range(50)]
    shuffle(items, random.Random(0))
    assert items != [*range(50)]
    assert sorted(items) == [*range(50)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 1000])
def test_shuffle_orders_items_as_random_shuffle_does(count):
    ours, pythons = [*range(count)], [*range(count)]
    shuffle(ours, random.Random(7))
    random.Random(7).shuffle(pythons)
    assert ours == pythons
