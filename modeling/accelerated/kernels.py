"""Elementwise parts of a training step, each compiled to one loop.

As single operations they read and write memory many times over, and take a
fifth of a step; drawing random numbers for dropout takes a good part of that.
`fused` has XLA compile a function and its gradient on TensorFlow's backend,
and leaves the function as it is on others.

XLA compiles anew for every shape. So all of this is for training only, whose
batches have few; inference takes plain operations (fusions.py), which also
export.
"""

import functools

import keras

from modeling.ops import ACTIVATIONS

_COMPILES = keras.backend.backend() == "tensorflow"
# Elements of a row from which compiling pays: those of the smallest BERT.
_LEAST_WIDTH = 128


def fused(function):
    """Compiles an elementwise function of tensors, and its gradient.

    The gradient computes the function again in place of keeping what it
    computed on the way: only the inputs are kept. Where rows are known to be
    short the function stays as it is: compiling would take longer than it
    saves.

    Args:
        function: (*tensors, **constants) -> tensor; pure.
    """
    if not _COMPILES:
        return function
    import tensorflow as tf

    forward = tf.function(function, jit_compile=True, autograph=False)

    @functools.partial(tf.function, jit_compile=True, autograph=False)
    def backward(inputs, upstream, **constants):
        floats = [tensor for tensor in inputs if tensor.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            outputs = function(*inputs, **constants)
        return tape.gradient(outputs, floats, upstream)

    @functools.wraps(function)
    def call(*inputs, **constants):
        inputs = [tf.convert_to_tensor(tensor) for tensor in inputs]
        if (inputs[0].shape[-1] or _LEAST_WIDTH) < _LEAST_WIDTH:
            return function(*inputs, **constants)

        @tf.custom_gradient
        def apply(*inputs):
            def gradient(upstream):
                grads = iter(backward(inputs, upstream, **constants))
                return [
                    next(grads) if tensor.dtype.is_floating else None
                    for tensor in inputs
                ]

            return forward(*inputs, **constants), gradient

        return apply(*inputs)

    return call


def random_bits(shape, seed):
    """Returns uint32 of a shape, uniform, each from its index and the seed.

    A counter-based generator (Salmon et al. 2011): the index goes through
    Wellons's integer hash `triple32`, a permutation of three multiplications,
    with a key folded in before the first and between it and the second. No
    state or order is needed to compute any of them.

    Args:
        shape: of the result, up to 2 ** 31 elements.
        seed: int [2].
    """
    ops = keras.ops
    seed = ops.cast(seed, "uint32")
    # Seeds are small numbers in a row: hashed, they share no pattern.
    first_key = _hash(seed[0] + _uint32(1), _uint32(0))
    second_key = _hash(seed[1], first_key)
    number = 1
    for size in shape:
        number = number * size
    index = ops.reshape(ops.cast(ops.arange(number), "uint32"), shape)
    return _hash(ops.bitwise_xor(index, first_key), second_key)


def _hash(bits, key):
    bits = _fold(bits, 17) * _uint32(0xED5AD4BB)
    bits = (_fold(bits, 11) + key) * _uint32(0xAC4C1B51)
    bits = _fold(bits, 15) * _uint32(0x31848BAB)
    return _fold(bits, 14)


def _fold(bits, shift):
    shifted = keras.ops.right_shift(bits, _uint32(shift))
    return keras.ops.bitwise_xor(bits, shifted)


def _uint32(value):
    return keras.ops.convert_to_tensor(value, dtype="uint32")


class _GivenSeed(keras.random.SeedGenerator):
    """Hands a seed tensor to `keras.random`, which takes no bare tensors."""

    def __init__(self, value):
        # Keras on torch asks for the second whether there is a seed.
        self.value = self._initial_seed = value

    def next(self, ordered=True):
        return self.value


def _drop(inputs, seed, dropout_prob):
    if not dropout_prob:
        return inputs
    if not _COMPILES:
        return keras.random.dropout(inputs, dropout_prob, seed=_GivenSeed(seed))
    bits = random_bits(keras.ops.shape(inputs), seed)
    kept = bits >= _uint32(int(dropout_prob * 2**32))
    return keras.ops.where(kept, inputs / (1.0 - dropout_prob), 0.0)


def _at_least_float32(inputs):
    dtype = keras.backend.result_type(inputs.dtype, "float32")
    return keras.ops.cast(inputs, dtype)


@fused
def _dropout(inputs, seed, dropout_prob):
    return keras.ops.cast(_drop(inputs, seed, dropout_prob), inputs.dtype)


def dropout(inputs, dropout_prob, seed):
    """Sets a share `dropout_prob` of `inputs` to 0 and scales up the others.

    The same `seed` drops the same elements, so a pass can be repeated.

    Args:
        inputs: float tensor.
        dropout_prob: in [0, 1).
        seed: int [2]; None = drop nothing.
    """
    if seed is None or dropout_prob == 0:
        return inputs
    return _dropout(inputs, seed, dropout_prob=dropout_prob)


def _activated(activation):
    def activate(inputs):
        outputs = activation(_at_least_float32(inputs))
        return keras.ops.cast(outputs, inputs.dtype)

    return fused(activate)


# The same functions as ops.ACTIVATIONS, inside in float32 at least.
TRAINING_ACTIVATIONS = {
    name: _activated(activation) for name, activation in ACTIVATIONS.items()
}


@fused
def dropout_add_norm(
    inputs, residual, gamma, beta, seed, dropout_prob, epsilon
):
    """Dropout of `inputs`, sum with `residual`, layer normalisation.

    Args:
        inputs: float [..., W].
        residual: as `inputs`.
        gamma: float [W], scale of the normalisation.
        beta: float [W], its offset.
        seed: int [2].
        dropout_prob: in [0, 1).
        epsilon: of the normalisation.
    """
    ops = keras.ops
    summed = _drop(_at_least_float32(inputs), seed, dropout_prob)
    summed = summed + _at_least_float32(residual)
    mean = ops.mean(summed, axis=-1, keepdims=True)
    centred = summed - mean
    variance = ops.mean(ops.square(centred), axis=-1, keepdims=True)
    outputs = centred * ops.rsqrt(variance + epsilon)
    outputs = outputs * _at_least_float32(gamma) + _at_least_float32(beta)
    return ops.cast(outputs, inputs.dtype)


@fused
def attention_probs(scores, adder, seed, scale, dropout_prob):
    """Softmax of `scale * scores + adder` over the last axis, with dropout.

    Args:
        scores: float [B, N, F, T].
        adder: float, broadcasts to `scores`; no gradient flows to it.
        seed: int [2].
        scale: float.
        dropout_prob: in [0, 1).
    """
    scores_at_least_float32 = _at_least_float32(scores) * scale
    probs = keras.ops.softmax(
        scores_at_least_float32 + keras.ops.stop_gradient(adder), axis=-1
    )
    return keras.ops.cast(_drop(probs, seed, dropout_prob), scores.dtype)
