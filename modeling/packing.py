"""Packs the short sequences of a batch into a few long ones, for attention.

Attention compares the positions of a sequence with each other. In a packed
sequence of full length, each short sequence attends only to itself, so the
results do not change.

In shapes, B = batch, T = length in WordPieces, W = width, R = number of rows
(see row_layouts.py) and S = number of packed sequences.
"""

from typing import NamedTuple

import keras

from modeling.row_layouts import MappedRowLayout, RowMap, TrimmedRowLayout
from modeling.tensors import Tensor


class PackedRowLayout(MappedRowLayout):
    """The layout of the rows of a batch in a few long sequences, for attention.

    The longest sequence is packed first. Each sequence goes into the first
    packed sequence with enough unused positions.

    Args:
        row_layout: row layout of the batch. Its rows after the last WordPiece
            are padding.

    Attributes:
        attention_mask: int [S, T, T], 1 = both positions contain WordPieces of
            the same sequence, or both are unused.
    """

    def __init__(self, row_layout: TrimmedRowLayout) -> None:
        _, capacity = row_layout.row_map.shape
        plan = plan_packing(
            row_layout.row_map.positions, row_layout.lengths, capacity
        )
        super().__init__(plan.row_map)
        self._is_padding = plan.is_padding[:, None]
        numbers = plan.sequence_numbers
        self.attention_mask = keras.ops.cast(
            numbers[:, :, None] == numbers[:, None, :], "int32"
        )

    def _gather(self, padded: Tensor) -> Tensor:
        """Returns the rows [R, W] of [S, T, W], zeros for a row of padding."""
        # For a row of padding, `positions` contains the position of another
        # row.
        return keras.ops.where(self._is_padding, 0.0, super()._gather(padded))


class PackingPlan(NamedTuple):
    """Maps each row of a batch to its position in the packed sequences.

    Attributes:
        row_map: where the rows lie. A row of padding lies nowhere, and its
            entry in `positions` is 0.
        is_padding: bool [R], whether a row is padding.
        sequence_numbers: int [S, T], number of the sequence at each packed
            position, counted from 1, or 0 at an unused position.
    """

    row_map: RowMap
    is_padding: Tensor
    sequence_numbers: Tensor


def plan_packing(
    positions: Tensor, lengths: Tensor, capacity: int | Tensor
) -> PackingPlan:
    """Plans the positions of a batch's rows in a few long sequences.

    For example, two sequences, "a b c" and "d e", in a batch of length T = 6,
    with one row of padding so that R = 6:

        batch            a b c . . .   d e . . . .    lengths [3, 2]
        rows             a b c d e .                  positions [0 1 2 6 7 3]
        packed, S = 1    a b c d e .
        sequence_index   0 0 0 1 1 0                  of each row
        packed_positions 0 1 2 3 4 0                  of each row, 0 = padding
        row_numbers      1 2 3 4 5 0                  from 1, 0 = unused
        sequence_numbers 1 1 1 2 2 0                  from 1, 0 = unused

    "d e" begins at 3, after "a b c". In the attention mask a, b and c see each
    other, d and e see each other, and the unused position sees itself.

    Args:
        positions: int [R], index of each row among the batch's B * T positions.
        lengths: int [B], length of each sequence in WordPieces.
        capacity: T, the length of a packed sequence.
    """
    packed_index, offsets, num_packed = pack_by_first_fit(lengths, capacity)
    # Index of each row and of its sequence, and the row's offset in the
    # sequence.
    row_index = keras.ops.arange(keras.ops.shape(positions)[0], dtype="int32")
    sequence_index = positions // capacity
    first_row = keras.ops.cumsum(lengths) - lengths
    offset = row_index - keras.ops.take(first_row, sequence_index)
    starts = packed_index * capacity + offsets
    is_padding = row_index >= keras.ops.sum(lengths)
    packed_positions = keras.ops.where(
        is_padding, 0, keras.ops.take(starts, sequence_index) + offset
    )
    # For each packed position, the number of its row and the number of its
    # sequence, both counted from 1, or 0 at an unused position.
    row_numbers, sequence_numbers = (
        keras.ops.scatter(
            packed_positions[:, None],
            keras.ops.where(is_padding, 0, index + 1),
            (num_packed * capacity,),
        )
        for index in (row_index, sequence_index)
    )
    shape = (num_packed, capacity)
    return PackingPlan(
        RowMap(shape, packed_positions, row_numbers),
        is_padding,
        keras.ops.reshape(sequence_numbers, shape),
    )


class FirstFit(NamedTuple):
    """The packed sequence and the offset at which each sequence begins.

    Attributes:
        packed_index: int [B], index of the packed sequence that contains each
            sequence.
        offsets: int [B], position in the packed sequence at which each sequence
            begins.
        num_packed: number of packed sequences, at least 1.
    """

    packed_index: Tensor
    offsets: Tensor
    num_packed: Tensor


def pack_by_first_fit(lengths: Tensor, capacity: int | Tensor) -> FirstFit:
    """Packs sequences by first fit, the longest first.

    For example, sequences of 3, 2, 6 and 1 WordPieces are packed into two of
    capacity 6. The third fills packed sequence 0. The others follow each other
    in packed sequence 1. Returns [1, 1, 0, 1], [0, 3, 0, 5] and 2.

    Args:
        lengths: int [B].
        capacity: length of a packed sequence, at least the length of the
            longest sequence.
    """
    batch_size = keras.ops.shape(lengths)[0]
    order = keras.ops.cast(keras.ops.argsort(-lengths), "int32")
    indices = keras.ops.arange(batch_size, dtype="int32")

    # The state: `used` [B], the WordPieces in each packed sequence so far, and
    # `packed_index` and `offsets` of the result.
    def pack(
        index: Tensor, state: tuple[Tensor, ...]
    ) -> tuple[Tensor, Tensor, Tensor]:
        used, packed_index, offsets = state
        current = order[index]
        length = lengths[current]
        has_room = keras.ops.cast(used + length <= capacity, "int32")
        chosen = keras.ops.cast(keras.ops.argmax(has_room), "int32")
        offset = used[chosen]
        is_current = indices == current
        return (
            keras.ops.where(indices == chosen, used + length, used),
            keras.ops.where(is_current, chosen, packed_index),
            keras.ops.where(is_current, offset, offsets),
        )

    zeros = keras.ops.zeros_like(lengths)
    used, packed_index, offsets = keras.ops.fori_loop(
        0, batch_size, pack, (zeros, zeros, zeros)
    )
    num_packed = keras.ops.sum(keras.ops.cast(used > 0, "int32"))
    return FirstFit(packed_index, offsets, keras.ops.maximum(num_packed, 1))
