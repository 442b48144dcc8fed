"""Shuffles documents, instances and words as Python does, but faster."""

import random
from collections.abc import MutableSequence
from typing import TypeVar

T = TypeVar("T")


def shuffle(items: MutableSequence[T], rng: random.Random) -> None:
    """Shuffles items in place, as rng.shuffle(items) does, in half the time."""
    getrandbits = rng.getrandbits
    bound = len(items)
    while bound > 1:
        # Bounds of the same bit length need equally many random bits. To save
        # time, call bit_length() once for all of these bounds.
        num_bits = bound.bit_length()
        lowest = 1 << (num_bits - 1)
        for last in range(bound - 1, lowest - 2, -1):
            draw = getrandbits(num_bits)
            while draw > last:
                draw = getrandbits(num_bits)
            items[last], items[draw] = items[draw], items[last]
        bound = lowest - 1
