"""Forms of the operations for inference, most of which TensorFlow fuses.

TensorFlow's graph optimizer replaces several operations by one of oneDNN, if
they match its patterns exactly: a matrix product, its bias, and a residual or
an activation; a layer normalisation. The functions here match those patterns.
Each replaces the one of its name in modeling/ops.py and takes the same
arguments.
"""

from collections.abc import Callable

import keras
import tensorflow as tf

from modeling import ops
from modeling.ops import Tensor


def dense(inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """`ops.dense`; only products of rows [R, W] are fused."""
    outputs = keras.ops.matmul(inputs, kernel)
    if outputs.dtype.size > 2:
        return tf.nn.bias_add(outputs, bias)
    return _add_bias_to_16_bits(outputs, tf.convert_to_tensor(bias))


@tf.custom_gradient
def _add_bias_to_16_bits(
    outputs: Tensor, bias: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        # The gradient of bias_add would sum bfloat16 in bfloat16. Multiply by
        # ones instead, because matmul sums in float32.
        rows = tf.reshape(upstream, (-1, bias.shape[0]))
        ones = tf.ones((1, tf.shape(rows)[0]), rows.dtype)
        return upstream, tf.matmul(ones, rows)[0]

    return tf.nn.bias_add(outputs, bias), gradient


def look_up(table: Tensor, ids: Tensor) -> tf.Tensor:
    """`ops.look_up`; on a CPU, ids beyond the table are errors.

    keras.ops.take counts negative ones from the end.
    """
    return tf.gather(keras.ops.convert_to_tensor(table), ids)


def check_range(ids: Tensor, name: str, num_rows: int) -> Tensor:
    """`ops.check_range`; XLA leaves the check out."""
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
    """`ops.reshape_like`, with the result known to have that shape.

    A sum of two tensors is fused only if their shapes are known to be equal.
    """
    return tf.reshape(inputs, tf.shape(other))


def _gelu(inputs: Tensor) -> Tensor:
    if inputs.dtype == "float64":
        # TensorFlow's gelu rounds a factor to float32.
        return ops.gelu(inputs)
    # The optimizer sorts the operations that it compares by name: this scope
    # must come after the layer's, "dense".
    with tf.name_scope("gelu"):
        return tf.nn.gelu(inputs, approximate=True)


_ACTIVATIONS = ops.ACTIVATIONS | {"gelu": _gelu}


def activation(inputs: Tensor, hidden_act: str, *, training: bool) -> Tensor:
    """`ops.activation` after a `dense`, in the dtype of `inputs`."""
    return _ACTIVATIONS[hidden_act](inputs)


def attention_probs(
    attention_scores: Tensor,
    adder: Tensor,
    scale: float,
    dropout_prob: float,
    *,
    seed: Tensor | None,
) -> Tensor:
    """`ops.attention_probs`, also in bfloat16.

    oneDNN then scales and adds before it rounds the product.
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
    """`ops.layer_norm`, as a fused batch normalisation.

    In bfloat16 the layer's weights are rounded, like those of products.
    """
    inputs = keras.ops.cast(inputs, layer.compute_dtype)
    if layer.compute_dtype == "float16":
        return layer(inputs)
    shape, width = tf.shape(inputs), inputs.shape[-1]
    # TensorFlow folds ones and zeros of a known number into constants, and then
    # does not fuse; the placeholder hides the number.
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
    """`ops.dropout_add_norm` without dropout."""
    return layer_norm(inputs + residual, layer)
