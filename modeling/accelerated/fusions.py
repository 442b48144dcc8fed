"""Parts of the network, in the forms that TensorFlow fuses.

TensorFlow's graph optimizer puts one operation of oneDNN in the place of
several, where it finds exactly the operations that it looks for: a product of
matrices, its bias, and a residual or an activation; a layer normalisation.
What it looks for is written here. To rounding, the results are those of the
plain forms, which other backends take.

R = rows, W = width.
"""

import math

import keras

from modeling import ops

_FUSES = keras.backend.backend() == "tensorflow"


def _is_on_cpu(inputs):
    """Returns whether a graph computes `inputs` on the CPU, and only there."""
    if not _FUSES or keras.backend.standardize_dtype(inputs.dtype) not in (
        "float32",
        "bfloat16",
    ):
        return False
    import tensorflow as tf

    return not tf.executing_eagerly() and "CPU" in (inputs.device or "")


@keras.saving.register_keras_serializable(package="bert")
class Dense(keras.layers.Dense):
    """A dense layer without an activation, its bias added as the fusion has it.

    Call arguments:
        inputs: float [..., W]; products of rows [R, W] alone are fused.
    """

    def call(self, inputs):
        """Multiplies by the kernel and adds the bias."""
        outputs = keras.ops.matmul(inputs, self.kernel)
        return (_add_bias if _FUSES else keras.ops.add)(outputs, self.bias)

    def quantize(
        self, mode: str | None = None, type_check: bool = False, config=None
    ) -> None:
        """Quantizes the kernel, as Keras does for its own layer alone."""
        super().quantize(mode, type_check=False, config=config)


def _add_bias(outputs, bias):
    import tensorflow as tf

    if outputs.dtype.size > 2:
        return tf.nn.bias_add(outputs, bias)

    @tf.custom_gradient
    def add(outputs, bias):
        def gradient(upstream):
            # The operation's own gradient adds bfloat16 up in bfloat16; a
            # product adds up in float32.
            rows = tf.reshape(upstream, (-1, bias.shape[0]))
            ones = tf.ones((1, tf.shape(rows)[0]), rows.dtype)
            return upstream, tf.matmul(ones, rows)[0]

        return tf.nn.bias_add(outputs, bias), gradient

    return add(outputs, tf.convert_to_tensor(bias))


def gelu(inputs):
    """`ops.gelu` after a `Dense`."""
    if not _FUSES or inputs.dtype == "float64":
        return ops.gelu(inputs)
    import tensorflow as tf

    # The optimizer sorts what it compares by name: this scope has to come
    # after the layer's, "dense".
    with tf.name_scope("gelu"):
        return tf.nn.gelu(inputs, approximate=True)


def gelu_erf(inputs):
    """`ops.gelu_erf` after a `Dense`."""
    return 0.5 * inputs * (1.0 + keras.ops.erf(inputs * math.sqrt(0.5)))


ACTIVATIONS = ops.ACTIVATIONS | {"gelu": gelu, "gelu_erf": gelu_erf}


def attention_probs(scores, adder, scale):
    """Softmax of `scale * scores + adder` over the last axis.

    In float32 at least; on the CPU in bfloat16 too, for oneDNN to scale and
    add before it rounds the product.

    Args:
        scores: float [B, N, F, T].
        adder: float32 or more, broadcasts to `scores`.
        scale: float.
    """
    cast = keras.ops.cast
    dtype = scores.dtype if _is_on_cpu(scores) else adder.dtype
    scaled = cast(scores, dtype) * scale + cast(adder, dtype)
    return cast(keras.ops.softmax(scaled, axis=-1), scores.dtype)


def reshape_like(inputs, other):
    """Returns `inputs` in the shape of `other`, and known to have it.

    A sum of two tensors is fused only where their shapes are known to be the
    same ones.
    """
    if not _FUSES:
        return keras.ops.reshape(inputs, keras.ops.shape(other))
    import tensorflow as tf

    return tf.reshape(inputs, tf.shape(other))


def layer_norm(layer, inputs):
    """Applies a layer normalisation.

    The form that TensorFlow fuses is a normalisation of a batch. It is taken
    in graphs that are tied to the CPU (`tf.device`): TensorFlow fuses it for
    GPUs too, where it then has no kernel. In bfloat16 it rounds the layer's
    weights as those of products are rounded.

    Args:
        layer: keras.layers.LayerNormalization of the last axis.
        inputs: float [..., W].
    """
    inputs = keras.ops.cast(inputs, layer.compute_dtype)
    if not _is_on_cpu(inputs):
        return layer(inputs)
    import tensorflow as tf

    shape, width = tf.shape(inputs), inputs.shape[-1]
    number = tf.reduce_prod(shape[:-1])
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
