"""Flattens a batch to one row for each position, with or without padding.

A row is the vector of one position, and a `RowLayout` says where the rows lie
in the batch. All layers except attention treat each position separately, so
they can leave the rows of padding out. The results do not change, except at
padding, because attention masks padding.

Attention compares the positions of a sequence with each other, so it gets the
rows in another layout, `PackedRowLayout` of packing.py.

The argument `trim_padding` of a model leaves the rows of padding out. The flag
--trim_padding sets it for the models of a training, and also trims each batch
(data/padding.py).

In shapes, B = batch, T = length in WordPieces, W = width, R = number of rows
(B * T, or fewer without padding) and S = number of packed sequences.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import keras

from modeling.ops import reshape_like
from modeling.tensors import Tensor

# Round the number of rows up to a multiple of _ROWS_MULTIPLE, or in large
# batches of (number of positions / _MAX_SHAPES). This limits the number of
# different shapes, because XLA compiles a step again for each shape.
_ROWS_MULTIPLE = 64
_MAX_SHAPES = 64


class PaddedRowLayout:
    """The layout of all positions of a batch, padding included.

    Args:
        padded: tensor [B, T, W] of the batch.
    """

    def __init__(self, padded: Tensor) -> None:
        self._batch_size, self._length, width = keras.ops.shape(padded)
        self._rows = keras.ops.reshape(padded, (-1, width))

    def to_rows(self, padded: Tensor) -> Tensor:
        """Returns the rows [B * T, W] of a tensor [B, T, W]."""
        return reshape_like(padded, self._rows)

    def from_rows(self, rows: Tensor) -> Tensor:
        """Restores the tensor [B, T, W] from its rows [B * T, W]."""
        return keras.ops.reshape(
            rows, (self._batch_size, self._length, rows.shape[-1])
        )


class RowMap(NamedTuple):
    """Maps the kept rows to positions in a tensor, and positions to rows.

    The tensor is the batch [B, T, W], or its packed sequences [S, T, W].

    Attributes:
        shape: first two axes of the tensor, (B, T) or (S, T).
        positions: int [R], index of each row in the two axes, flattened.
        row_numbers: int [B * T] or [S * T], number of each position's row,
            counted from 1, or 0 at padding.
        spare: index of the row that is copied to padding.
    """

    shape: tuple[Tensor | int, Tensor | int]
    positions: Tensor
    row_numbers: Tensor
    spare: Tensor | int = 0


class MappedRowLayout:
    """Base class of the layouts that keep only the rows at WordPieces.

    Attributes:
        row_map: where the rows lie in the tensor.
    """

    def __init__(self, row_map: RowMap) -> None:
        self.row_map = row_map

    def to_rows(self, padded: Tensor) -> Tensor:
        """Returns the rows [R, W] at WordPieces of [B, T, W] or [S, T, W]."""
        # The gradient of a gather would add up rows one by one, which is slow.
        # Instead, copy each row to its only position, and zeros to padding.
        return _with_gradient(self._gather, self._scatter_with_zeros)(padded)

    def from_rows(self, rows: Tensor) -> Tensor:
        """Returns the tensor [B, T, W] or [S, T, W] that contains `rows`.

        The values at padding are arbitrary.
        """
        # Fill padding with a copy of an existing row. Appending a row of zeros
        # would copy all rows.
        return _with_gradient(self._scatter_with_spare, self._gather)(rows)

    def _gather(self, padded: Tensor) -> Tensor:
        """Returns the rows [R, W] of [B, T, W] or [S, T, W]."""
        flat = keras.ops.reshape(padded, (-1, padded.shape[-1]))
        return keras.ops.take(flat, self.row_map.positions, axis=0)

    def _scatter_with_zeros(self, rows: Tensor) -> Tensor:
        """Returns [B, T, W] or [S, T, W] of rows [R, W], zeros at padding."""
        zero = keras.ops.zeros((1, rows.shape[-1]), rows.dtype)
        rows = keras.ops.concatenate([zero, rows], axis=0)
        return self._scatter(rows, self.row_map.row_numbers)

    def _scatter_with_spare(self, rows: Tensor) -> Tensor:
        """Returns [B, T, W] or [S, T, W] of rows [R, W], `spare` at padding."""
        numbers = self.row_map.row_numbers
        indices = keras.ops.where(numbers > 0, numbers - 1, self.row_map.spare)
        return self._scatter(rows, indices)

    def _scatter(self, rows: Tensor, indices: Tensor) -> Tensor:
        """Returns [B, T, W] or [S, T, W], the rows at some indices.

        Args:
            rows: [R, W], or [1 + R, W] with zeros.
            indices: int [B * T] or [S * T], index of each position's row.
        """
        return keras.ops.reshape(
            keras.ops.take(rows, indices, axis=0),
            (*self.row_map.shape, rows.shape[-1]),
        )


class TrimmedRowLayout(MappedRowLayout):
    """The layout of the WordPieces of a batch, without the padding.

    The number of rows is rounded up, so some rows may be padding.

    Args:
        input_mask: int, float or bool [B, T], 0 = padding.

    Attributes:
        lengths: int [B], number of WordPieces in each sequence.
    """

    def __init__(self, input_mask: Tensor) -> None:
        is_wordpiece = keras.ops.cast(
            keras.ops.cast(input_mask, "int32") != 0, "int32"
        )
        self.lengths = keras.ops.sum(is_wordpiece, axis=1)
        super().__init__(plan_trimming(is_wordpiece, self.lengths))


def plan_trimming(is_wordpiece: Tensor, lengths: Tensor) -> RowMap:
    """Returns the positions in a batch of the rows of WordPieces.

    Args:
        is_wordpiece: int [B, T], 1 = a WordPiece, 0 = padding.
        lengths: int [B], number of WordPieces in each sequence.
    """
    batch_size, length = keras.ops.shape(is_wordpiece)
    num_positions = batch_size * length
    num_wordpieces = keras.ops.sum(lengths)
    is_padding = 1 - keras.ops.reshape(is_wordpiece, (-1,))
    # Round the number of rows up, so that there are few different shapes.
    multiple = keras.ops.maximum(_ROWS_MULTIPLE, num_positions // _MAX_SHAPES)
    # Always keep at least one row, even if the batch is all padding, because
    # `from_rows` fills the padding with a copy of a row.
    num_multiples = -(-keras.ops.maximum(num_wordpieces, 1) // multiple)
    num_rows = keras.ops.minimum(num_multiples * multiple, num_positions)
    # Order all positions [B * T]: first the WordPieces, then padding.
    positions = keras.ops.arange(num_positions, dtype="int32")
    order = keras.ops.argsort(is_padding * num_positions + positions)
    numbers = keras.ops.cast(keras.ops.argsort(order), "int32") + 1
    return RowMap(
        (batch_size, length),
        positions=keras.ops.cast(order, "int32")[:num_rows],
        row_numbers=keras.ops.where(numbers <= num_rows, numbers, 0),
        spare=num_rows - 1,
    )


# Where the rows of a batch lie, and how to convert the batch to rows and back.
RowLayout: TypeAlias = PaddedRowLayout | MappedRowLayout


def _with_gradient(
    function: Callable[[Tensor], Tensor], transposed: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    """Returns the linear `function`, with `transposed` as its gradient."""

    @keras.ops.custom_gradient
    def apply(inputs: Tensor) -> tuple[Tensor, Callable[..., Tensor]]:
        # On torch, Keras also passes the inputs, and passes the gradient by
        # keyword.
        def gradient(*args: Tensor, upstream: Tensor | None = None) -> Tensor:
            return transposed(args[0] if upstream is None else upstream)

        return function(inputs), gradient

    return apply
