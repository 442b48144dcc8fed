"""Small functions that several layers share.

B = batch, T = length in WordPieces, P = positions gathered, W = width.
"""

import math
from typing import Any

import keras

# A tensor of whichever backend Keras runs on.
Tensor = Any


def gelu(inputs):
    """Gaussian error linear unit in the original's tanh form.

    0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), computed by the same
    function's shorter form: 0.5 (1 + tanh(z)) = sigmoid(2 z).
    """
    # Not `keras.activations.gelu`: that one rounds 0.044715 to float32 in
    # float64 too, which moves gradients by 1e-9.
    factor = 2.0 * math.sqrt(2.0 / math.pi)
    slope = factor + (0.044715 * factor) * (inputs * inputs)
    return inputs * keras.ops.sigmoid(inputs * slope)


def gelu_erf(inputs):
    """Gaussian error linear unit in its exact form, 0.5 x (1 + erf(x / 2^.5)).

    What Hugging Face configurations mean by "gelu".
    """
    return keras.activations.gelu(inputs, approximate=False)


ACTIVATIONS = {
    "gelu": gelu,
    "gelu_erf": gelu_erf,
    "linear": keras.activations.linear,
    "relu": keras.activations.relu,
    "tanh": keras.activations.tanh,
}


@keras.saving.register_keras_serializable(package="bert")
class TruncatedNormal(keras.initializers.TruncatedNormal):
    """Keras's, by the inverse of the distribution: half of its time.

    Keras draws again what lies beyond two standard deviations.
    """

    def __call__(self, shape, dtype=None):
        """Returns new values of a shape."""
        dtype = keras.backend.standardize_dtype(dtype)
        limit = math.erf(math.sqrt(2.0))
        uniform = keras.random.uniform(
            shape,
            -limit,
            limit,
            # In 16 bits there are few numbers to begin with.
            dtype=keras.backend.result_type(dtype, "float32"),
            seed=self.seed,
        )
        scale = self.stddev * math.sqrt(2.0)
        return keras.ops.cast(
            self.mean + scale * keras.ops.erfinv(uniform), dtype
        )


def create_initializer(initializer_range, seed_generator=None):
    """Returns a truncated normal initializer of mean 0.

    Args:
        initializer_range: its standard deviation.
        seed_generator: `keras.random.SeedGenerator` that every use draws a
            new seed from; None = every use gives the same values.
    """
    return TruncatedNormal(stddev=initializer_range, seed=seed_generator)


def create_attention_mask_from_input_mask(input_mask, left_to_right=False):
    """Returns which positions each position may attend to.

    Args:
        input_mask: int [B, T], 1 = a WordPiece, 0 = padding: all positions
            attend to the same ones; or int [B, F, T], 1 = position F may
            attend to position T, returned as it is.
        left_to_right: whether a position sees none that follow it.

    Returns:
        int [B, 1, T], which broadcasts over the from positions, or
        [B, F, T].

    Raises:
        ValueError: `input_mask` has another rank.
    """
    rank = len(input_mask.shape)
    if rank not in (2, 3):
        raise ValueError(
            "`input_mask` must have rank 2, [batch, length], or rank 3, "
            f"[batch, from, to]. Received: shape {tuple(input_mask.shape)}"
        )
    mask = input_mask if rank == 3 else input_mask[:, None, :]
    if left_to_right:
        order = keras.ops.arange(keras.ops.shape(mask)[-1])
        past = keras.ops.cast(order[:, None] >= order[None, :], mask.dtype)
        mask = mask * past
    return mask


def gather_indexes(sequence_tensor, positions):
    """Gathers the vectors at `positions` of each sequence.

    Args:
        sequence_tensor: float [B, T, W].
        positions: int [B, P], each in [0, T).

    Returns:
        float [B, P, W].
    """
    batch_size, seq_length, width = keras.ops.shape(sequence_tensor)
    # One flat table of B * T rows, so that one lookup serves the batch.
    flat_offsets = keras.ops.arange(batch_size, dtype=positions.dtype)
    flat_positions = positions + (flat_offsets * seq_length)[:, None]
    flat_sequence = keras.ops.reshape(sequence_tensor, (-1, width))
    return keras.ops.take(flat_sequence, flat_positions, axis=0)


def fold_in(seed, index):
    """Returns the seed of one dropout, of many that share one pass's seed.

    Args:
        seed: int [2], what `keras.random.SeedGenerator.next` gives: the
            generator's own number and a count of its draws. None stays None.
        index: int, another one for each dropout in the same pass.
    """
    if seed is None:
        return None
    return seed + keras.ops.convert_to_tensor([index, 0], dtype=seed.dtype)
