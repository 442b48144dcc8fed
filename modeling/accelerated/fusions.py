"""Faster versions of the functions in modeling/ops.py, most for inference.

`dense`, `look_up`, `check_range` and `reshape_like` are used in training too.

TensorFlow's graph optimizer replaces several operations with one oneDNN
operation if they match a pattern exactly. One pattern is a matrix product plus
a bias, followed by an activation or by the addition of a residual. Another is a
layer normalization. Most functions here match one of these patterns. For one
short text, preparing a call of oneDNN takes longer than the computation. So
`swap_attention_heads` avoids oneDNN, and so does `layer_norm` for a short
input. The functions in modeling/ops.py call these.
"""

from collections.abc import Callable

import keras
import tensorflow as tf

from modeling import plain_ops
from modeling.tensors import Tensor

# oneDNN takes at least 80 microseconds to prepare a layer normalization. An
# input of fewer elements, such as one short text, is faster without it.
_MIN_FUSED_ELEMENTS = 1 << 16


def may_fuse(inputs: Tensor) -> bool:
    """Returns whether TensorFlow may fuse functions of `inputs` [..., W].

    It does in a graph that is pinned to the CPU (`tf.device`), in float32 or
    bfloat16. TensorFlow would fuse on a GPU too, but has no GPU kernels for the
    fused operations.
    """
    dtype = keras.backend.standardize_dtype(inputs.dtype)
    return (
        dtype in ("float32", "bfloat16")
        and not tf.executing_eagerly()
        and "CPU" in (tf.convert_to_tensor(inputs).device or "")
    )


def dense(inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """Applies a dense layer, with operations that TensorFlow can fuse.

    TensorFlow fuses the operations only if `inputs` has rank 2, [rows, width].
    """
    outputs = keras.ops.matmul(inputs, kernel)
    if outputs.dtype.size > 2:
        return tf.nn.bias_add(outputs, bias)
    return _add_bias_to_16_bits(outputs, tf.convert_to_tensor(bias))


@tf.custom_gradient
def _add_bias_to_16_bits(
    outputs: Tensor, bias: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        # The gradient of bias_add would sum the rows in 16 bits, and round each
        # partial sum. Multiply by ones instead, because matmul sums in float32.
        rows = tf.reshape(upstream, (-1, bias.shape[0]))
        ones = tf.ones((1, tf.shape(rows)[0]), rows.dtype)
        return upstream, tf.matmul(ones, rows)[0]

    return tf.nn.bias_add(outputs, bias), gradient


def look_up(table: Tensor, ids: Tensor) -> Tensor:
    """Looks up rows like `ops.look_up`. On a CPU, invalid ids raise an error.

    An id is invalid if it is negative or beyond the table. `keras.ops.take`
    would count negative ids from the end of the table.

    Args:
        table: float [V, W].
        ids: int [...].

    Returns:
        float [..., W].
    """
    return tf.gather(keras.ops.convert_to_tensor(table), ids)


def check_range(ids: Tensor, name: str, num_rows: int) -> None:
    """Adds a check to the graph, which raises an error for invalid ids.

    Eager calls and graphs that XLA compiles do not check the ids, int [...].
    """
    if tf.executing_eagerly():
        return
    lowest = tf.reduce_min(ids)
    highest = tf.reduce_max(ids)
    is_right = (lowest >= 0) & (highest < num_rows)
    message = (
        f"`{name}` must be from 0 to {num_rows - 1}. Received: lowest, highest:"
    )
    # The graph runs the assertion, although nothing reads its result.
    tf.debugging.Assert(is_right, [message, lowest, highest])


def reshape_like(inputs: Tensor, other: Tensor) -> Tensor:
    """Reshapes `inputs` like `other`, so that TensorFlow fuses their sum.

    TensorFlow fuses a sum of two tensors only if the graph shows that their
    shapes are equal. The call of `tf.shape` shows this to the graph optimizer.
    """
    return tf.reshape(inputs, tf.shape(other))


def swap_attention_heads(inputs: Tensor) -> Tensor:
    """Transposes [B, F, N, H] to [B, N, F, H], or the other way round.

    `tf.transpose` calls oneDNN, and takes at least 40 microseconds to prepare
    the call. `tf.einsum` transposes without oneDNN, and takes 10 microseconds
    for a short text.
    """
    return tf.einsum("bfnh->bnfh", inputs)


def _gelu(inputs: Tensor) -> Tensor:
    if inputs.dtype == "float64":
        # TensorFlow's gelu rounds a constant to float32 even in float64.
        return plain_ops.gelu(inputs)
    # The graph optimizer finds patterns in operations sorted by name, so this
    # scope's name must sort after "dense", the scope of the layer.
    with tf.name_scope("gelu"):
        return tf.nn.gelu(inputs, approximate=True)


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = plain_ops.ACTIVATIONS | {
    "gelu": _gelu
}


def activation(inputs: Tensor, hidden_act: str) -> Tensor:
    """Applies the activation `hidden_act` in the dtype of `inputs` [..., W].

    TensorFlow fuses the activation with the dense layer before it.
    """
    return _ACTIVATIONS[hidden_act](inputs)


def attention_probs(
    attention_scores: Tensor, adder: Tensor, scale: float
) -> Tensor:
    """Returns softmax(`scale * attention_scores + adder`), float [B, N, F, T].

    Computes in the dtype of the scores, without dropout. In bfloat16, oneDNN
    fuses the product of query and key with the scaling and with the addition of
    `adder`, which masks scores, and rounds only the result.
    """
    dtype = attention_scores.dtype
    scaled = attention_scores * scale + keras.ops.cast(adder, dtype)
    return keras.ops.softmax(scaled, axis=-1)


def layer_norm(
    inputs: Tensor, layer: keras.layers.LayerNormalization
) -> Tensor:
    """Normalizes float [..., W], large inputs in one fused operation.

    In bfloat16, the layer's gamma and beta are rounded to bfloat16 for a large
    input, as the kernels of dense layers are.
    """
    inputs = keras.ops.cast(inputs, layer.compute_dtype)
    if layer.compute_dtype == "float16":
        return layer(inputs)
    gamma, beta = layer.gamma.value, layer.beta.value
    return tf.cond(
        tf.size(inputs) < _MIN_FUSED_ELEMENTS,
        lambda: _norm_few(inputs, gamma, beta, layer.epsilon),
        lambda: _norm_many(inputs, gamma, beta, layer.epsilon),
    )


def _norm_few(
    inputs: Tensor, gamma: Tensor, beta: Tensor, epsilon: float
) -> Tensor:
    """Normalizes a few rows with separate operations, in float32."""
    floats = tf.cast(inputs, "float32")
    centered = floats - tf.reduce_mean(floats, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centered), axis=-1, keepdims=True)
    normal = centered * tf.math.rsqrt(variance + epsilon)
    outputs = normal * tf.cast(gamma, "float32") + tf.cast(beta, "float32")
    return tf.cast(outputs, inputs.dtype)


def _norm_many(
    inputs: Tensor, gamma: Tensor, beta: Tensor, epsilon: float
) -> Tensor:
    """Normalizes many rows with one fused operation, a batch normalization."""
    shape = tf.shape(inputs)
    width = inputs.shape[-1]
    # Hide the number of rows in a placeholder. Otherwise the ones and zeros
    # below would become constants, and TensorFlow would not fuse them.
    num_rows = tf.compat.v1.placeholder_with_default(
        tf.reduce_prod(shape[:-1]), []
    )
    outputs, _, _ = tf.compat.v1.nn.fused_batch_norm(
        tf.reshape(inputs, (1, num_rows, width, 1)),
        tf.ones(num_rows),
        tf.zeros(num_rows),
        epsilon=epsilon,
        data_format="NCHW",
    )
    outputs = tf.reshape(outputs, shape)
    dtype = inputs.dtype
    return outputs * tf.cast(gamma, dtype) + tf.cast(beta, dtype)


def add_norm(
    inputs: Tensor,
    residual: Tensor,
    layer: keras.layers.LayerNormalization,
) -> Tensor:
    """Computes `ops.dropout_add_norm` without dropout, float [..., W]."""
    return layer_norm(inputs + residual, layer)
