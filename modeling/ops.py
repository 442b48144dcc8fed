"""Building blocks of the network, written with `keras.ops`.

On TensorFlow, some functions call a faster version in modeling/accelerated/,
whose results differ only by rounding and by which elements dropout drops. Each
function says in its code when. For example, `activation(inputs, "gelu",
training=True)` runs a compiled version if the inputs are wide. Only this module
imports the versions of functions, and the network computes the same without
that folder. `plain_versions` switches all of them off.

In shapes, B = batch, F = positions that attend, T = positions that they attend
to, N = heads, W = width, V = width of the outputs and L = labels.
"""

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

import keras

from modeling import plain_ops
from modeling.plain_ops import at_least_float32
from modeling.tensors import Tensor

_HAS_FASTER_VERSIONS = (
    keras.backend.backend() == "tensorflow"
    and find_spec("modeling.accelerated") is not None
)
if _HAS_FASTER_VERSIONS:
    from modeling.accelerated import compiled, fusions, graphs

# A variable of the context, so that a thread does not switch the versions of
# another thread.
_uses_plain = contextvars.ContextVar("uses_plain", default=False)


@contextlib.contextmanager
def plain_versions() -> Iterator[None]:
    """Switches off all faster versions inside a `with` block.

    This applies to eager calls, and to graphs that are traced in the block, by
    the thread of the block.
    """
    token = _uses_plain.set(True)
    try:
        yield
    finally:
        _uses_plain.reset(token)


def uses_plain_versions() -> bool:
    """Returns whether `plain_versions` has switched off all faster versions."""
    return _uses_plain.get()


def _is_accelerated() -> bool:
    """Returns whether calls may run faster versions."""
    return _HAS_FASTER_VERSIONS and not uses_plain_versions()


def look_up(table: Tensor, ids: Tensor) -> Tensor:
    """Returns the rows [..., W] of `table` [V, W] at `ids` [...], int."""
    if _is_accelerated():
        return fusions.look_up(table, ids)
    return keras.ops.take(table, ids, axis=0)


def check_range(ids: Tensor, name: str, num_rows: int) -> None:
    """Adds a check of `ids`, int [...], to a graph of TensorFlow.

    When the graph runs, the check raises an error if an id is below 0 or not
    below `num_rows`. The message contains `name`. Eager calls, other backends
    and `plain_versions` do not check the ids.
    """
    if _is_accelerated():
        fusions.check_range(ids, name, num_rows)


def layer_norm(
    inputs: Tensor,
    layer: keras.layers.LayerNormalization,
    *,
    training: bool,
) -> Tensor:
    """Applies a normalization layer to the last axis of `inputs` [..., W]."""
    if _is_accelerated() and not training and fusions.may_fuse(inputs):
        return fusions.layer_norm(inputs, layer)
    return layer(inputs)


def dense(inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """Returns `inputs` [..., W] times `kernel` [W, V], plus `bias` [V]."""
    if _is_accelerated():
        return fusions.dense(inputs, kernel, bias)
    return keras.ops.add(keras.ops.matmul(inputs, kernel), bias)


def activation(inputs: Tensor, hidden_act: str, *, training: bool) -> Tensor:
    """Applies `hidden_act` to `inputs` [..., W].

    Computes in at least float32 in training, and on other backends than
    TensorFlow.
    """
    if _is_accelerated():
        if not training:
            return fusions.activation(inputs, hidden_act)
        if compiled.is_wide(inputs):
            return compiled.activation(inputs, hidden_act)
    return plain_ops.activation(inputs, hidden_act)


def swap_attention_heads(inputs: Tensor, *, training: bool) -> Tensor:
    """Transposes [B, F, N, H] to [B, N, F, H], or the other way round."""
    if _is_accelerated() and not training:
        return fusions.swap_attention_heads(inputs)
    return keras.ops.transpose(inputs, (0, 2, 1, 3))


def attention_probs(
    attention_scores: Tensor,
    adder: Tensor,
    scale: float,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """Returns `dropout` of softmax(`scale * attention_scores + adder`).

    As in Google's code, dropout applies to the attention weights, so it hides
    complete positions.

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
    if _is_accelerated():
        if seed is None:
            if fusions.may_fuse(attention_scores):
                return fusions.attention_probs(attention_scores, adder, scale)
        elif compiled.is_wide(attention_scores):
            return compiled.attention_probs(
                attention_scores, adder, scale, dropout_prob, seed=seed
            )
    return plain_ops.attention_probs(
        attention_scores,
        adder,
        scale,
        dropout_prob,
        seed=seed,
        draw_mask=keep_mask,
    )


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
    if _is_accelerated() and seed is not None and compiled.is_wide(inputs):
        return compiled.dropout(inputs, dropout_prob, seed=seed)
    return plain_ops.dropout(
        inputs, dropout_prob, seed=seed, draw_mask=keep_mask
    )


def keep_mask(
    shape: Sequence[int | Tensor], dropout_prob: float, seed: Tensor
) -> Tensor:
    """Draws bool [*shape], True for the elements that `dropout` keeps."""
    if _is_accelerated():
        return compiled.keep_mask(shape, dropout_prob, seed)
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


def dropout_add_norm(
    inputs: Tensor,
    residual: Tensor,
    layer: keras.layers.LayerNormalization,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """Returns `layer_norm` of `dropout(inputs) + residual`, float [..., W]."""
    if _is_accelerated():
        if seed is None:
            if fusions.may_fuse(inputs):
                return fusions.add_norm(inputs, residual, layer)
        elif compiled.is_wide(inputs):
            return compiled.dropout_add_norm(
                inputs, residual, layer, dropout_prob, seed=seed
            )
    dropped = plain_ops.dropout(
        inputs, dropout_prob, seed=seed, draw_mask=keep_mask
    )
    return layer(dropped + residual)


def reshape_like(inputs: Tensor, other: Tensor) -> Tensor:
    """Reshapes `inputs` [B, T, W] or [B * T, W] to the shape of `other`."""
    if _is_accelerated():
        return fusions.reshape_like(inputs, other)
    return keras.ops.reshape(inputs, keras.ops.shape(other))


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Returns -log softmax(logits) at each label, 0 for labels out of range.

    Args:
        logits: float [..., L].
        labels: int [...].

    Returns:
        float [...], at least float32.
    """
    if _is_accelerated() and compiled.has_many_classes(logits):
        return compiled.cross_entropy(logits, labels)
    log_probs = keras.ops.log_softmax(at_least_float32(logits), axis=-1)
    # Read the size at run time, because SQuAD's batches vary in length.
    num_labels = keras.ops.shape(logits)[-1]
    one_hot = keras.ops.one_hot(labels, num_labels, dtype=log_probs.dtype)
    return -keras.ops.sum(one_hot * log_probs, axis=-1)


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
    if _is_accelerated() and training:
        return graphs.trace_once(function, layers)
    return function


class _GivenSeed(keras.random.SeedGenerator):
    """Lets `keras.random` use a seed that is a tensor."""

    def __init__(self, value: Tensor) -> None:
        # Do not call the constructor of Keras. It creates a variable from an
        # int, but a seed that is a tensor may belong to a graph.
        # On torch, Keras reads `_initial_seed` to detect a seed.
        self.value = self._initial_seed = value

    def next(self, ordered: bool = True) -> Tensor:
        return self.value
