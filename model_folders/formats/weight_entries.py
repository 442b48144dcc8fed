"""Defines an entry of a file of weights, under Google's name."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

POOLER = "bert/pooler/dense"
# Name of a pooler that belongs to the head for next sentences, where the
# encoder has a pooler of its own. Google's BERT has one pooler for both.
NEXT_SENTENCE_POOLER = "cls/seq_relationship/pooler/dense"


# The values of a weight. Any, because the file states the type of its numbers.
WeightArray: TypeAlias = NDArray[Any]


class WeightEntry(NamedTuple):
    """An entry of a file, which readers convert to the shape of a variable.

    Attributes:
        shape: shape of the value that `read` returns.
        dtype: name of the value's type, such as "float32".
        read: function that reads the value.
        num_heads: number of attention heads that the shape in the file shows,
            None if it shows none.
    """

    shape: Sequence[int]
    dtype: str
    read: Callable[[], WeightArray]
    num_heads: int | None = None


def transposed(entry: WeightEntry) -> WeightEntry:
    """Returns an entry whose value is the transpose of the value of `entry`."""
    return WeightEntry(entry.shape[::-1], entry.dtype, lambda: entry.read().T)
