"""Pads the WordPieces of texts to inputs of one length."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from data.arrays import IntArray


class PaddedInput(TypedDict):
    """The network's input for one text or pair, [max_seq_length] each.

    Attributes:
        input_ids: ids of the WordPieces.
        input_mask: 1 = a real token.
        segment_ids: 0 or 1, number of the text.
    """

    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]


def pad_input(
    input_ids: Sequence[int], first_length: int, max_seq_length: int
) -> PaddedInput:
    """Returns the network's input for ids, padded with zeros.

    The first `first_length` ids are in segment 0.

    Examples:
        >>> padded = pad_input([2, 7, 3, 8, 3], 3, max_seq_length=6)
        >>> padded["input_ids"], padded["segment_ids"]
        ([2, 7, 3, 8, 3, 0], [0, 0, 0, 1, 1, 0])
    """
    padding = [0] * (max_seq_length - len(input_ids))
    second_length = len(input_ids) - first_length
    return {
        "input_ids": [*input_ids, *padding],
        "input_mask": [1] * len(input_ids) + padding,
        "segment_ids": [0] * first_length + [1] * second_length + padding,
    }


def stack_inputs(
    inputs: Sequence[PaddedInput], max_seq_length: int
) -> dict[str, IntArray]:
    """Returns N inputs as arrays, int32 [N, max_seq_length] each."""
    rows = {
        "input_ids": [row["input_ids"] for row in inputs],
        "input_mask": [row["input_mask"] for row in inputs],
        "segment_ids": [row["segment_ids"] for row in inputs],
    }
    # An array of no rows needs its shape.
    shape = (len(inputs), max_seq_length)
    return {
        name: np.array(values, np.int32).reshape(shape)
        for name, values in rows.items()
    }
