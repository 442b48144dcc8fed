"""A batch as rows, one for each position: all, or only those of WordPieces.

Everything but attention treats each position separately, so padding can be
left out there. The other positions' results do not change: padding was
masked.

B = batch, T = length in WordPieces, W = width, R = rows that are kept.
"""

from collections.abc import Callable

import keras

from modeling.ops import Tensor, reshape_like

# The number of rows is a multiple of this, so that batches have few shapes:
# XLA compiles a step for each.
_MULTIPLE = 64


def _linear(
    function: Callable[[Tensor], Tensor], transposed: Callable[[Tensor], Tensor]
):
    """Returns a linear function whose gradient is another one."""

    @keras.ops.custom_gradient
    def apply(inputs: Tensor):
        # Keras on torch passes the inputs too, and the gradient by its name.
        def gradient(*args, upstream: Tensor = None):
            return transposed(args[0] if upstream is None else upstream)

        return function(inputs), gradient

    return apply


class PaddedRows:
    """Views a batch as rows, padding included, and rows as a batch.

    Args:
        padded: tensor [B, T, W] of the batch.
    """

    def __init__(self, padded: Tensor) -> None:
        self._batch_size, self._length, width = keras.ops.shape(padded)
        self._rows = keras.ops.reshape(padded, (-1, width))

    def unpad(self, padded: Tensor) -> Tensor:
        """Returns the rows [B * T, W] of a tensor [B, T, W]."""
        return reshape_like(padded, self._rows)

    def pad(self, rows: Tensor) -> Tensor:
        """Returns [B, T, W] of rows [B * T, W]."""
        return keras.ops.reshape(
            rows, (self._batch_size, self._length, rows.shape[-1])
        )


class UnpaddedRows:
    """Extracts the rows of WordPieces from a batch, and restores them.

    The number of rows is rounded up to a multiple of 64 by rows of padding.

    Args:
        input_mask: int, float or bool [B, T], 0 = padding.
    """

    def __init__(self, input_mask: Tensor) -> None:
        ops = keras.ops
        input_mask = ops.cast(ops.cast(input_mask, "int32") != 0, "int32")
        self._batch_size, self._length = ops.shape(input_mask)
        number = self._batch_size * self._length
        is_padding = 1 - ops.reshape(input_mask, (-1,))
        used = number - ops.sum(is_padding)
        # At least one row, which padding can take.
        count = -(-ops.maximum(used, 1) // _MULTIPLE) * _MULTIPLE
        count = ops.minimum(count, number)
        # All positions [B * T], those of WordPieces first, in their order.
        place = ops.arange(number, dtype="int32")
        order = ops.argsort(is_padding * number + place)
        self._kept = ops.cast(order, "int32")[:count]
        # Where each position's row is, or would be.
        self._rows = ops.cast(ops.argsort(order), "int32")
        self._last = count - 1

    def unpad(self, padded: Tensor) -> Tensor:
        """Returns the kept rows [R, W] of a tensor [B, T, W]."""
        # A gather's own gradient would add rows up one by one; here each row
        # goes to one place, and padding gets zeros.
        return _linear(self._take, self._put)(padded)

    def pad(self, rows: Tensor) -> Tensor:
        """Returns [B, T, W] of rows [R, W]; padding gets some row of them."""
        return _linear(self._spread, self._take)(rows)

    def _take(self, padded: Tensor):
        width = padded.shape[-1]
        flat = keras.ops.reshape(padded, (-1, width))
        return keras.ops.take(flat, self._kept, axis=0)

    def _put(self, rows: Tensor):
        zero = keras.ops.zeros((1, rows.shape[-1]), rows.dtype)
        rows = keras.ops.concatenate([rows, zero], axis=0)
        return self._place(rows, self._last + 1)

    def _spread(self, rows: Tensor):
        # Padding takes the last row: nothing to append, a pass saved.
        return self._place(rows, self._last)

    def _place(self, rows: Tensor, last: Tensor):
        places = keras.ops.minimum(self._rows, last)
        return keras.ops.reshape(
            keras.ops.take(rows, places, axis=0),
            (self._batch_size, self._length, rows.shape[-1]),
        )
