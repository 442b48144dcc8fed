"""Formulas of ops.py in `keras.ops`, which modeling/accelerated/ uses too.

XLA compiles the same formulas that other backends compute. In shapes, B =
batch, F = positions that attend, T = positions that they attend to, N = heads
and W = width.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import keras

from model_folders import bert_config
from modeling.tensors import Tensor

# (shape, dropout_prob, seed) -> bool [*shape], as `ops.keep_mask`.
DrawMask: TypeAlias = Callable[[Sequence[int | Tensor], float, Tensor], Tensor]


def at_least_float32(inputs: Tensor) -> Tensor:
    """Casts 16-bit floats [...] to float32. Keeps the dtype of other floats."""
    dtype = keras.backend.result_type(inputs.dtype, "float32")
    return keras.ops.cast(inputs, dtype)


def gelu(inputs: Tensor) -> Tensor:
    """Gaussian error linear unit, in Google's tanh approximation.

    0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) of each x in `inputs`
    [...], computed by the identity 0.5 (1 + tanh(z)) = sigmoid(2 z).
    """
    # Do not use `keras.activations.gelu`. It rounds 0.044715 to float32 even in
    # float64, which changes gradients by 1e-9.
    factor = 2.0 * math.sqrt(2.0 / math.pi)
    slope = factor + (0.044715 * factor) * (inputs * inputs)
    return inputs * keras.ops.sigmoid(inputs * slope)


def gelu_erf(inputs: Tensor) -> Tensor:
    """Exact Gaussian error linear unit, 0.5 x (1 + erf(x / 2^.5)), [...].

    Hugging Face configurations call this function "gelu".
    """
    # Keras's own function rounds the square root to float32 even in float64.
    return 0.5 * inputs * (1.0 + keras.ops.erf(inputs * math.sqrt(0.5)))


_OWN_ACTIVATIONS = {"gelu": gelu, "gelu_erf": gelu_erf}
# {value of `hidden_act` in a configuration: activation}.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    name: _OWN_ACTIVATIONS.get(name) or getattr(keras.activations, name)
    for name in bert_config.ACTIVATIONS
}


def activation(inputs: Tensor, hidden_act: str) -> Tensor:
    """Applies `hidden_act` to `inputs` [..., W], in at least float32."""
    outputs = ACTIVATIONS[hidden_act](at_least_float32(inputs))
    return keras.ops.cast(outputs, inputs.dtype)


def attention_probs(
    attention_scores: Tensor,
    adder: Tensor,
    scale: float,
    dropout_prob: float,
    *,
    seed: Tensor | None,
    draw_mask: DrawMask,
) -> Tensor:
    """Computes `ops.attention_probs` in at least float32.

    Args:
        attention_scores: float [B, N, F, T].
        adder: float32 or float64, broadcastable to the scores.
        scale: number that multiplies the scores.
        dropout_prob: fraction of the weights to drop, in [0, 1).
        seed: int [2], seed of `dropout`, or None.
        draw_mask: function that draws what `dropout` keeps.
    """
    scaled = at_least_float32(attention_scores) * scale
    scores = scaled + keras.ops.stop_gradient(adder)
    probs = keras.ops.softmax(scores, axis=-1)
    probs = dropout(probs, dropout_prob, seed=seed, draw_mask=draw_mask)
    return keras.ops.cast(probs, attention_scores.dtype)


def dropout(
    inputs: Tensor,
    dropout_prob: float,
    *,
    seed: Tensor | None,
    draw_mask: DrawMask,
) -> Tensor:
    """Computes `ops.dropout` of `inputs` [...].

    Args:
        inputs: float tensor.
        dropout_prob: fraction of the elements to drop, in [0, 1).
        seed: int [2]. If None, the function drops nothing.
        draw_mask: function that draws which elements to keep.
    """
    if seed is None or dropout_prob == 0:
        return inputs
    mask = draw_mask(keras.ops.shape(inputs), dropout_prob, seed)
    return keras.ops.where(mask, inputs / (1.0 - dropout_prob), 0.0)
