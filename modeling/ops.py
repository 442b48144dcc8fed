"""Building blocks of the network, written with `keras.ops`.

In shapes, B = batch, F = positions that attend, T = positions that they attend
to, N = heads, W = width, V = width of the outputs and L = labels.

A function marked `dispatched` may have a faster version, which
modeling/dispatch.py chooses, by the parameter that the mark names. The code
here is the plain version, which may ignore this parameter.
`ops.plain_versions` switches all faster versions off.
"""

import math
from collections.abc import Callable, Sequence

import keras

from model_folders import bert_config
from modeling.dispatch import dispatched
from modeling.dispatch import plain_versions as plain_versions
from modeling.tensors import Tensor


def at_least_float32(inputs: Tensor) -> Tensor:
    """Casts 16-bit floats [...] to float32. Keeps the dtype of other floats."""
    dtype = keras.backend.result_type(inputs.dtype, "float32")
    return keras.ops.cast(inputs, dtype)


@dispatched()
def look_up(table: Tensor, ids: Tensor) -> Tensor:
    """Returns the rows [..., W] of `table` [V, W] at `ids` [...], int."""
    return keras.ops.take(table, ids, axis=0)


@dispatched()
def with_range_check(ids: Tensor, name: str, num_rows: int) -> Tensor:
    """Returns `ids`, int [...]. On TensorFlow, adds a check to a graph.

    When the graph runs, the check raises an error if an id is below 0 or not
    below `num_rows`. The message contains `name`.
    """
    return ids


@dispatched(training_parameter="training")
def layer_norm(
    inputs: Tensor,
    layer: keras.layers.LayerNormalization,
    *,
    training: bool,
) -> Tensor:
    """Applies a normalization layer to the last axis of `inputs` [..., W]."""
    return layer(inputs)


@dispatched()
def dense(inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """Returns `inputs` [..., W] times `kernel` [W, V], plus `bias` [V]."""
    return keras.ops.add(keras.ops.matmul(inputs, kernel), bias)


@dispatched(training_parameter="training")
def activation(inputs: Tensor, hidden_act: str, *, training: bool) -> Tensor:
    """Applies `hidden_act` to `inputs` [..., W], in at least float32."""
    outputs = ACTIVATIONS[hidden_act](at_least_float32(inputs))
    return keras.ops.cast(outputs, inputs.dtype)


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


@dispatched(training_parameter="training")
def swap_attention_heads(inputs: Tensor, *, training: bool) -> Tensor:
    """Transposes [B, F, N, H] to [B, N, F, H], or the other way round."""
    return keras.ops.transpose(inputs, (0, 2, 1, 3))


@dispatched(training_parameter="seed")
def attention_probs(
    attention_scores: Tensor,
    adder: Tensor,
    scale: float,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """Returns `dropout` of softmax(`scale * attention_scores + adder`).

    Computes in at least float32. As in Google's code, dropout applies to the
    attention weights, so it hides complete positions.

    Args:
        attention_scores: float [B, N, F, T].
        adder: float32 or float64, broadcastable to the scores, such as -10000
            at masked positions and 0 elsewhere. The adder gets no gradient.
        scale: number that multiplies the scores.
        dropout_prob: fraction of the weights to drop, in [0, 1).
        seed: int [2], seed of `dropout`. If None, the function drops nothing.

    Returns:
        float [B, N, F, T] in the dtype of the scores. Before dropout the last
        axis sums to 1.
    """
    scaled = at_least_float32(attention_scores) * scale
    scores = scaled + keras.ops.stop_gradient(adder)
    probs = keras.ops.softmax(scores, axis=-1)
    probs = dropout.plain(probs, dropout_prob, seed=seed)
    return keras.ops.cast(probs, attention_scores.dtype)


@dispatched(training_parameter="seed")
def dropout(
    inputs: Tensor, dropout_prob: float, *, seed: Tensor | None
) -> Tensor:
    """Sets a fraction of `inputs` to 0 and scales up the other elements.

    Args:
        inputs: float tensor.
        dropout_prob: fraction of the elements to drop, in [0, 1).
        seed: int [2]. The same seed drops the same elements, so that a pass can
            be recomputed. If None, the function drops nothing.
    """
    if seed is None or dropout_prob == 0:
        return inputs
    mask = keep_mask(keras.ops.shape(inputs), dropout_prob, seed=seed)
    return keras.ops.where(mask, inputs / (1.0 - dropout_prob), 0.0)


@dispatched(training_parameter="seed")
def keep_mask(
    shape: Sequence[int | Tensor], dropout_prob: float, *, seed: Tensor
) -> Tensor:
    """Draws bool [*shape], True for the elements that `dropout` keeps."""
    draws: Tensor = keras.random.uniform(shape, seed=_GivenSeed(seed))
    return draws >= dropout_prob


def dropout_seed(seed: Tensor | None, index: int) -> Tensor | None:
    """Derives the seed of a dropout call from the seed of the forward pass.

    For example, the calls 0, 1 and 2 of a pass with the seed [7, 3] get the
    seeds [7, 3], [8, 3] and [9, 3].

    Args:
        seed: int [2] from `keras.random.SeedGenerator.next`: the generator's
            seed, and the number of its draws. If None, the result is None.
        index: number of the dropout call in the pass, different for each call.
    """
    if seed is None:
        return None
    return seed + keras.ops.convert_to_tensor([index, 0], dtype=seed.dtype)


@dispatched(training_parameter="seed")
def dropout_add_norm(
    inputs: Tensor,
    residual: Tensor,
    layer: keras.layers.LayerNormalization,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """Returns `layer_norm` of `dropout(inputs) + residual`, float [..., W]."""
    dropped = dropout.plain(inputs, dropout_prob, seed=seed)
    return layer(dropped + residual)


@dispatched()
def reshape_like(inputs: Tensor, other: Tensor) -> Tensor:
    """Reshapes `inputs` [B, T, W] or [B * T, W] to the shape of `other`."""
    return keras.ops.reshape(inputs, keras.ops.shape(other))


@dispatched()
def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Returns -log softmax(logits) at each label, 0 for labels out of range.

    Args:
        logits: float [..., L].
        labels: int [...].

    Returns:
        float [...], at least float32.
    """
    log_probs = keras.ops.log_softmax(at_least_float32(logits), axis=-1)
    # Read the size at run time, because SQuAD's batches vary in length.
    num_labels = keras.ops.shape(logits)[-1]
    one_hot = keras.ops.one_hot(labels, num_labels, dtype=log_probs.dtype)
    return -keras.ops.sum(one_hot * log_probs, axis=-1)


@dispatched(training_parameter="training")
def trace_once(
    function: Callable[..., Tensor],
    layers: Sequence[keras.layers.Layer],
    *,
    training: bool,
) -> Callable[..., Tensor]:
    """Returns `function`, or a version that is traced only once for all layers.

    Args:
        function: (layer, *tensors) -> tensor. It may use only the variables of
            the layer.
        layers: built layers.
        training: whether the call is part of a training step.
    """
    return function


class _GivenSeed(keras.random.SeedGenerator):
    """Lets `keras.random` use a seed that is a tensor."""

    def __init__(self, value: Tensor):
        # On torch, Keras reads `_initial_seed` to detect a seed.
        self.value = self._initial_seed = value

    def next(self, ordered: bool = True) -> Tensor:
        return self.value
