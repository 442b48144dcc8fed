"""Faster versions, for training, of the functions in modeling/ops.py.

XLA compiles each function to a few loops over its inputs. TensorFlow's separate
operations would read and write memory many times, and take a fifth of the time
of a training step, much of it to draw random numbers for dropout. XLA compiles
a function again for every new shape, so this module is used only where batches
vary little in shape: in training, and in evaluation for the masked LM's loss.
The functions in modeling/ops.py call those with the same names here, for inputs
that are large enough (`is_wide`, `has_many_classes`).
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, ParamSpec, TypeAlias

import keras
import tensorflow as tf

from modeling import plain_ops
from modeling.plain_ops import at_least_float32
from modeling.tensors import Features, Tensor

# The hidden size of the smallest released BERT. For inputs with a shorter last
# axis, compiling costs more time than it saves.
MIN_COMPILED_WIDTH = 128
# For fewer classes, compiling costs more time than it saves.
MIN_COMPILED_CLASSES = 1024

P = ParamSpec("P")

# What tf.custom_gradient expects of a function: its output, and a function from
# the gradient of the output to the gradient of each input.
_OutputAndGradient: TypeAlias = tuple[
    Tensor, Callable[[Tensor], list[Tensor | None]]
]


def is_wide(inputs: Tensor) -> bool:
    """Returns whether a compiled function is the faster one for `inputs`.

    The last axis [..., W] must have `MIN_COMPILED_WIDTH` elements, or an
    unknown number.
    """
    return (inputs.shape[-1] or MIN_COMPILED_WIDTH) >= MIN_COMPILED_WIDTH


def has_many_classes(logits: Tensor) -> bool:
    """Returns whether the compiled `cross_entropy` is the faster one.

    It is faster in a graph, for at least `MIN_COMPILED_CLASSES` classes, such
    as the words of the masked LM.

    Args:
        logits: float [..., L].
    """
    num_classes = logits.shape[-1] or 0
    return num_classes >= MIN_COMPILED_CLASSES and not tf.executing_eagerly()


class CompiledFunction(Generic[P]):
    """An elementwise function that XLA compiles, and its gradient.

    To save memory, the forward pass stores only the inputs. The backward pass
    computes the function again. For example, in
    `CompiledFunction(plain_ops.activation)(inputs, "gelu")`, `inputs` is a
    tensor of the graph, and "gelu" a constant, so that XLA compiles another
    graph for "relu".

    Args:
        function: pure function, (tensors and constants) -> tensor.
    """

    def __init__(self, function: Callable[P, Tensor]) -> None:
        functools.update_wrapper(self, function)
        # The gradient passes all arguments by name, which `P` cannot state.
        self._function: Callable[..., Tensor] = function
        self._signature = inspect.signature(function)
        compile_function = functools.partial(
            tf.function, jit_compile=True, autograph=False
        )
        self._forward = compile_function(function)
        self._backward = compile_function(self._compute_gradients)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        """Calls the function, with the gradient for a tape."""
        arguments = self._signature.bind(*args, **kwargs).arguments
        inputs = {
            name: value
            for name, value in arguments.items()
            if tf.is_tensor(value)
        }
        constants = {
            name: value
            for name, value in arguments.items()
            if name not in inputs
        }

        # tf.custom_gradient needs a function of tensors, passed by position.
        @tf.custom_gradient
        def apply(*tensors: Tensor) -> _OutputAndGradient:
            inputs_of_tape = dict(zip(inputs, tensors, strict=True))
            return (
                self._forward(**inputs_of_tape, **constants),
                functools.partial(
                    self._differentiate, inputs_of_tape, constants
                ),
            )

        return apply(*inputs.values())

    def _differentiate(
        self,
        inputs: Features,
        constants: Mapping[str, object],
        upstream: Tensor,
    ) -> list[Tensor | None]:
        """Returns the gradient of each input, None for integers."""
        gradients = iter(self._backward(inputs, upstream, **constants))
        return [
            next(gradients) if tensor.dtype.is_floating else None
            for tensor in inputs.values()
        ]

    def _compute_gradients(
        self, inputs: Features, upstream: Tensor, **constants: object
    ) -> list[Tensor]:
        """Returns the gradients of the floating-point inputs, in order.

        XLA compiles this function, whose outputs cannot be None.
        """
        floats = [
            tensor for tensor in inputs.values() if tensor.dtype.is_floating
        ]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            outputs = self._function(**inputs, **constants)
        gradients: list[Tensor] = tape.gradient(outputs, floats, upstream)
        return gradients


def random_bits(shape: Sequence[int | Tensor], seed: Tensor) -> Tensor:
    """Returns random uint32 numbers, each computed from its index and the seed.

    The function is a counter-based generator (Salmon et al. 2011), which can
    compute the numbers in any order. It applies Wellons's integer hash
    `triple32`, which multiplies three times, to the index of each number.
    Before each of the first two multiplications, it mixes in a key that is
    derived from the seed.

    Args:
        shape: shape of the result, up to 2 ** 31 elements.
        seed: int [2].
    """
    seed = keras.ops.cast(seed, "uint32")
    # Hash both numbers of the seed, because the seeds of different calls are
    # small consecutive numbers.
    first_key = _hash(seed[0] + _uint32(1), _uint32(0))
    second_key = _hash(seed[1], first_key)
    num_elements: int | Tensor = 1
    for size in shape:
        num_elements = num_elements * size
    index = keras.ops.cast(keras.ops.arange(num_elements), "uint32")
    index = keras.ops.reshape(index, shape)
    return _hash(keras.ops.bitwise_xor(index, first_key), second_key)


def _hash(bits: Tensor, key: Tensor) -> Tensor:
    bits = _fold(bits, 17) * _uint32(0xED5AD4BB)
    bits = (_fold(bits, 11) + key) * _uint32(0xAC4C1B51)
    bits = _fold(bits, 15) * _uint32(0x31848BAB)
    return _fold(bits, 14)


def _fold(bits: Tensor, shift: int) -> Tensor:
    shifted = keras.ops.right_shift(bits, _uint32(shift))
    return keras.ops.bitwise_xor(bits, shifted)


def _uint32(value: int) -> Tensor:
    return keras.ops.convert_to_tensor(value, dtype="uint32")


def keep_mask(
    shape: Sequence[int | Tensor], dropout_prob: float, seed: Tensor
) -> Tensor:
    """Returns the mask of `ops.keep_mask`, bool [*shape], from `random_bits`.

    XLA can compute these random numbers in the loop that drops the elements.
    """
    return random_bits(shape, seed) >= _uint32(int(dropout_prob * 2**32))


activation = CompiledFunction(plain_ops.activation)


@CompiledFunction
def attention_probs(
    attention_scores: Tensor,
    adder: Tensor,
    scale: float,
    dropout_prob: float,
    *,
    seed: Tensor,
) -> Tensor:
    """Computes `ops.attention_probs`, float [B, N, F, T], with XLA."""
    return plain_ops.attention_probs(
        attention_scores,
        adder,
        scale,
        dropout_prob,
        seed=seed,
        draw_mask=keep_mask,
    )


@CompiledFunction
def dropout(inputs: Tensor, dropout_prob: float, *, seed: Tensor) -> Tensor:
    """Computes `ops.dropout` of `inputs` [...] with XLA."""
    return plain_ops.dropout(
        inputs, dropout_prob, seed=seed, draw_mask=keep_mask
    )


@CompiledFunction
def _dropout_add_norm(
    inputs: Tensor,
    residual: Tensor,
    gamma: Tensor,
    beta: Tensor,
    seed: Tensor,
    dropout_prob: float,
    epsilon: float,
) -> Tensor:
    summed = plain_ops.dropout(
        at_least_float32(inputs), dropout_prob, seed=seed, draw_mask=keep_mask
    )
    summed = summed + at_least_float32(residual)
    mean = keras.ops.mean(summed, axis=-1, keepdims=True)
    centered = summed - mean
    variance = keras.ops.mean(
        keras.ops.square(centered), axis=-1, keepdims=True
    )
    outputs = centered * keras.ops.rsqrt(variance + epsilon)
    outputs = outputs * at_least_float32(gamma) + at_least_float32(beta)
    return keras.ops.cast(outputs, inputs.dtype)


def dropout_add_norm(
    inputs: Tensor,
    residual: Tensor,
    layer: keras.layers.LayerNormalization,
    dropout_prob: float,
    *,
    seed: Tensor,
) -> Tensor:
    """Returns `layer_norm` of `dropout(inputs) + residual`, compiled with XLA.

    The tensors are float [..., W]. The function computes in float32, or in
    float64 for float64 inputs, and returns the dtype of `inputs`.
    """
    return _dropout_add_norm(
        inputs,
        residual,
        tf.convert_to_tensor(layer.gamma),
        tf.convert_to_tensor(layer.beta),
        seed,
        dropout_prob,
        layer.epsilon,
    )


class _CrossEntropy(NamedTuple):
    """The losses of rows of logits, and numbers for their gradient.

    Attributes:
        losses: float [...], 0 for labels out of range.
        maximum: the largest logit, [...].
        log_sums: log(sum(exp(logits - maximum))), [...].
    """

    losses: tf.Tensor
    maximum: tf.Tensor
    log_sums: tf.Tensor


@functools.partial(tf.function, jit_compile=True, autograph=False)
def _cross_entropy(logits: Tensor, labels: tf.Tensor) -> _CrossEntropy:
    """Computes `cross_entropy` and what its gradient needs."""
    exact = at_least_float32(logits)
    maximum = tf.reduce_max(exact, axis=-1)
    sums = tf.reduce_sum(tf.exp(exact - maximum[..., tf.newaxis]), axis=-1)
    # Adding the log sum to a large maximum would lose its low bits, so the two
    # are returned separately.
    log_sums = tf.math.log(sums)
    is_class = (labels >= 0) & (labels < logits.shape[-1])
    chosen = tf.gather(
        exact, tf.where(is_class, labels, 0), batch_dims=len(logits.shape) - 1
    )
    losses = log_sums - (chosen - maximum)
    return _CrossEntropy(tf.where(is_class, losses, 0.0), maximum, log_sums)


@functools.partial(tf.function, jit_compile=True, autograph=False)
def _cross_entropy_gradient(
    logits: Tensor,
    labels: tf.Tensor,
    maximum: tf.Tensor,
    log_sums: tf.Tensor,
    upstream: tf.Tensor,
) -> Tensor:
    """Returns (softmax(logits) - one_hot(labels)) * upstream.

    The gradient is 0 in rows whose label is out of range.
    """
    num_classes = logits.shape[-1]
    is_class = (labels >= 0) & (labels < num_classes)
    upstream, maximum, log_sums, labels = (
        row[..., tf.newaxis]
        for row in (
            tf.where(is_class, upstream, 0.0),
            maximum,
            log_sums,
            labels,
        )
    )
    probs = tf.exp(at_least_float32(logits) - maximum - log_sums)
    is_label = tf.range(num_classes) == labels
    gradient = upstream * (probs - tf.cast(is_label, probs.dtype))
    return tf.cast(gradient, logits.dtype)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Returns -log softmax(logits) at each label, compiled with XLA.

    The function can be differentiated only once. XLA saves memory traffic: in
    bfloat16, TensorFlow's separate operations would read and write the logits
    of the masked LM a dozen times, mostly in float32.

    Args:
        logits: float [..., L].
        labels: int [...].

    Returns:
        float [...], 0 for labels out of range.
    """
    labels = tf.cast(labels, tf.int32)

    @tf.custom_gradient
    def losses(logits: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        values, maximum, log_sums = _cross_entropy(logits, labels)

        def gradient(upstream: Tensor) -> Tensor:
            return tf.raw_ops.PreventGradient(
                input=_cross_entropy_gradient(
                    logits, labels, maximum, log_sums, upstream
                ),
                message="the second derivative needs "
                "modeling.ops.plain_versions()",
            )

        return values, gradient

    return losses(tf.convert_to_tensor(logits))
