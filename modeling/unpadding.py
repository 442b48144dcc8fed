"""Computing without padding: only the rows of a batch that hold WordPieces.

Everything but attention treats each position for itself, so padding can be
left out there. What the other positions get does not change: padding was
masked.

B = batch, T = length in WordPieces, W = width, R = rows that are kept.
"""

import keras

# Rows are kept in multiples of this, the last ones of padding: of as many
# shapes XLA can have compiled a step within a few batches.
_MULTIPLE = 64


def _linear(function, transposed):
    """Returns a linear function whose gradient is another one."""

    @keras.ops.custom_gradient
    def apply(inputs):
        # Keras on torch passes the inputs too, and the gradient by its name.
        def gradient(*args, upstream=None):
            return transposed(args[0] if upstream is None else upstream)

        return function(inputs), gradient

    return apply


class Unpadding:
    """Takes the rows of WordPieces out of a batch, and puts them back.

    Args:
        input_mask: int, float or bool [B, T], 0 = padding.
    """

    def __init__(self, input_mask):
        ops = keras.ops
        input_mask = ops.cast(ops.cast(input_mask, "int32") != 0, "int32")
        self._batch_size, self._length = ops.shape(input_mask)
        number = self._batch_size * self._length
        is_padding = 1 - ops.reshape(input_mask, (-1,))
        used = number - ops.sum(is_padding)
        count = ops.minimum(-(-used // _MULTIPLE) * _MULTIPLE, number)
        # All positions [B * T], those of WordPieces first, in their order.
        place = ops.arange(number, dtype="int32")
        order = ops.argsort(is_padding * number + place)
        self._kept = ops.cast(order, "int32")[:count]
        # Where each position's row is; a row of zeros follows the last.
        self._rows = ops.minimum(ops.cast(ops.argsort(order), "int32"), count)

    def remove(self, padded):
        """Returns the kept rows [R, W] of a tensor [B, T, W]."""
        # A gather's own gradient would add rows up one by one; here each row
        # goes to one place.
        return _linear(self._take, self._put)(padded)

    def restore(self, rows):
        """Returns [B, T, W] of rows [R, W]; padding is of no use there."""
        return _linear(self._put, self._take)(rows)

    def _take(self, padded):
        width = padded.shape[-1]
        flat = keras.ops.reshape(padded, (-1, width))
        return keras.ops.take(flat, self._kept, axis=0)

    def _put(self, rows):
        width = rows.shape[-1]
        zero = keras.ops.zeros((1, width), rows.dtype)
        rows = keras.ops.concatenate([rows, zero], axis=0)
        return keras.ops.reshape(
            keras.ops.take(rows, self._rows, axis=0),
            (self._batch_size, self._length, width),
        )
