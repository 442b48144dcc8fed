"""Creates attention masks, and gathers the vectors at some positions.

In shapes, B = batch, F = positions that attend, T = positions that they attend
to, P = number of gathered positions and W = width.
"""

import keras

from modeling.tensors import Tensor


def create_attention_mask_from_input_mask(
    input_mask: Tensor, left_to_right: bool = False
) -> Tensor:
    """Returns a mask of the positions that each position may attend to.

    For example, [[1, 1, 0]] becomes [[[1, 1, 0]]], and with `left_to_right`
    [[[1, 0, 0], [1, 1, 0], [1, 1, 0]]].

    Args:
        input_mask: int [B, T], 1 = all positions may attend to this WordPiece,
            0 = padding, or int [B, F, T], 1 = position F may attend to position
            T.
        left_to_right: whether a position may attend only to itself and earlier
            positions.

    Returns:
        int [B, 1, T], which broadcasts over the F positions, or [B, F, T].
    """
    # Do not index with `[:, None]`, for which LiteRT lacks an operation.
    is_square = len(input_mask.shape) == 3
    mask = input_mask if is_square else keras.ops.expand_dims(input_mask, 1)
    if not left_to_right:
        return mask
    order = keras.ops.arange(keras.ops.shape(mask)[-1])
    is_visible = keras.ops.expand_dims(order, 1) >= order
    return mask * keras.ops.cast(is_visible, mask.dtype)


def attended_positions(input_mask: Tensor) -> Tensor:
    """Returns int [B, T], 1 = at least one position may attend to this one.

    For example, [[[1, 0, 0], [1, 1, 0], [0, 0, 0]]] becomes [[1, 1, 0]].

    Args:
        input_mask: int [B, T], which is returned unchanged, or int [B, F, T],
            1 = position F may attend to position T.
    """
    if len(input_mask.shape) == 2:
        return input_mask
    return keras.ops.max(input_mask, axis=1)


def last_positions(mask: Tensor) -> Tensor:
    """Returns the position of each row's last 1, int [B]. 0 if a row has none.

    The mask is int [B, T] of zeros and ones. For example, the result is [1, 0]
    for [[1, 1, 0], [0, 0, 0]].
    """
    positions = keras.ops.arange(keras.ops.shape(mask)[-1], dtype=mask.dtype)
    return keras.ops.max(mask * positions, axis=-1)


def gather_indexes(sequence_tensor: Tensor, positions: Tensor) -> Tensor:
    """Gathers the vectors at `positions` of each sequence.

    Args:
        sequence_tensor: float [B, T, W].
        positions: int [B, P], each in [0, T).

    Returns:
        float [B, P, W].
    """
    batch_size, seq_length, width = keras.ops.shape(sequence_tensor)
    # A user's positions may be int64, as NumPy makes them.
    positions = keras.ops.cast(positions, "int32")
    # Flatten to B * T rows, so that one lookup serves the complete batch.
    flat_offsets = keras.ops.arange(batch_size, dtype="int32")
    first = keras.ops.expand_dims(flat_offsets * seq_length, 1)
    flat_positions = positions + first
    flat_sequence = keras.ops.reshape(sequence_tensor, (-1, width))
    return keras.ops.take(flat_sequence, flat_positions, axis=0)


def gather_vectors(sequence_tensor: Tensor, positions: Tensor) -> Tensor:
    """Returns the vector at one position of each sequence, float [B, W].

    `positions`, int [B], contains the position in each sequence.
    """
    positions = keras.ops.expand_dims(positions, 1)
    return keras.ops.squeeze(gather_indexes(sequence_tensor, positions), 1)
