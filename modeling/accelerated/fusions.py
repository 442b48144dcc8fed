"""Forms of the operations for inference, most of which TensorFlow fuses.

TensorFlow's graph optimizer replaces several operations by one operation of
oneDNN if they match a pattern exactly. One pattern is a matrix product with its
bias and a residual or an activation. Another is a layer normalization. Each
function here matches such a pattern, and replaces the function of the same name
and arguments in modeling/ops.py.
"""

from collections.abc import Callable

import keras
import tensorflow as tf

from modeling import ops
from modeling.ops import Tensor


def dense(inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """Computes `ops.dense`. TensorFlow fuses only products of rows [R, W]."""
    outputs = keras.ops.matmul(inputs, kernel)
    if outputs.dtype.size > 2:
        return tf.nn.bias_add(outputs, bias)
    return _add_bias_to_16_bits(outputs, tf.convert_to_tensor(bias))


@tf.custom_gradient
def _add_bias_to_16_bits(
    outputs: Tensor, bias: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        # The gradient of bias_add would add up bfloat16 in bfloat16. Multiply
        # by ones instead, because matmul adds up in float32.
        rows = tf.reshape(upstream, (-1, bias.shape[0]))
        ones = tf.ones((1, tf.shape(rows)[0]), rows.dtype)
        return upstream, tf.matmul(ones, rows)[0]

    return tf.nn.bias_add(outputs, bias), gradient


def look_up(table: Tensor, ids: Tensor) -> tf.Tensor:
    """Computes `ops.look_up`. On a CPU, an id beyond the table is an error.

    `keras.ops.take` would count negative ids from the end.
    """
    return tf.gather(keras.ops.convert_to_tensor(table), ids)


def check_range(ids: Tensor, name: str, num_rows: int) -> Tensor:
    """Computes `ops.check_range`. Graphs that XLA compiles omit the check."""
    if tf.executing_eagerly():
        return ids
    lowest, highest = tf.reduce_min(ids), tf.reduce_max(ids)
    is_right = (lowest >= 0) & (highest < num_rows)
    message = f"`{name}` must be from 0 to {num_rows - 1}. Received: from, to:"
    with tf.control_dependencies(
        [tf.debugging.Assert(is_right, [message, lowest, highest])]
    ):
        return tf.identity(ids)


def reshape_like(inputs: Tensor, other: Tensor) -> Tensor:
    """Computes `ops.reshape_like`, so that the graph knows the equal shapes.

    TensorFlow fuses a sum of two tensors only if the graph knows that their
    shapes are equal.
    """
    return tf.reshape(inputs, tf.shape(other))


def _gelu(inputs: Tensor) -> Tensor:
    if inputs.dtype == "float64":
        # TensorFlow's gelu rounds a factor to float32.
        return ops.gelu(inputs)
    # The graph optimizer compares operations sorted by name, so this scope must
    # follow the layer's scope, "dense".
    with tf.name_scope("gelu"):
        return tf.nn.gelu(inputs, approximate=True)


_ACTIVATIONS = ops.ACTIVATIONS | {"gelu": _gelu}


def activation(inputs: Tensor, hidden_act: str, *, training: bool) -> Tensor:
    """Computes `ops.activation` after a `dense`, in the dtype of `inputs`."""
    return _ACTIVATIONS[hidden_act](inputs)


def attention_probs(
    attention_scores: Tensor,
    adder: Tensor,
    scale: float,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """Computes `ops.attention_probs` in the dtype of the scores.

    In bfloat16, oneDNN scales and adds before it rounds the product.
    """
    dtype = attention_scores.dtype
    scaled = attention_scores * scale + keras.ops.cast(adder, dtype)
    return keras.ops.softmax(scaled, axis=-1)


def layer_norm(
    inputs: Tensor,
    layer: keras.layers.LayerNormalization,
    *,
    training: bool = False,
) -> Tensor:
    """Computes `ops.layer_norm` as a fused batch normalization.

    In bfloat16 the layer's weights are rounded, as the kernels of products are.
    """
    inputs = keras.ops.cast(inputs, layer.compute_dtype)
    if layer.compute_dtype == "float16":
        return layer(inputs)
    shape, width = tf.shape(inputs), inputs.shape[-1]
    # TensorFlow folds a known number of ones and zeros into constants, and then
    # does not fuse. The placeholder hides the number.
    number = tf.compat.v1.placeholder_with_default(
        tf.reduce_prod(shape[:-1]), []
    )
    outputs, _, _ = tf.compat.v1.nn.fused_batch_norm(
        tf.reshape(inputs, (1, number, width, 1)),
        tf.ones(number),
        tf.zeros(number),
        epsilon=layer.epsilon,
        data_format="NCHW",
    )
    outputs = tf.reshape(outputs, shape)
    gamma, beta = (
        tf.cast(variable.value, inputs.dtype)
        for variable in (layer.gamma, layer.beta)
    )
    return outputs * gamma + beta


def dropout_add_norm(
    inputs: Tensor,
    residual: Tensor,
    layer: keras.layers.LayerNormalization,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """Computes `ops.dropout_add_norm` without dropout."""
    return layer_norm(inputs + residual, layer)
