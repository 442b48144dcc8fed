"""The compiled parts of a training step against their plain formulas."""

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from modeling import ops
from modeling.accelerated import kernels


def bits_of(seed, number=1 << 20):
    compiled = tf.function(kernels.random_bits, jit_compile=True)
    return compiled((number,), tf.constant(seed, tf.int32)).numpy()


@pytest.mark.parametrize("seed", [(0, 0), (1, 0), (0, 1), (-5, 2_000_000_000)])
def test_random_bits_are_uniform(seed):
    bits = bits_of(seed)
    for byte in bits.view(np.uint8).reshape(-1, 4).T:
        counts = np.bincount(byte, minlength=256)
        assert scipy.stats.chisquare(counts).pvalue > 1e-6
    uniform = bits / 2**32
    assert scipy.stats.kstest(uniform, "uniform").pvalue > 1e-6
    # Neighbours, rows of a usual width, and a long way off.
    for lag in (1, 2, 128, 768, 1 << 16):
        pairs = np.histogram2d(uniform[:-lag], uniform[lag:], 16)[0]
        assert scipy.stats.chisquare(pairs.ravel()).pvalue > 1e-6


def test_each_seed_draws_for_itself():
    seeds = [(a, b) for a in (0, 1, 2, 1234) for b in (0, 1, 2, 77)]
    drawn = [bits_of(seed, 1 << 16) / 2**32 for seed in seeds]
    shares = np.corrcoef(drawn)[np.triu_indices(len(seeds), 1)]
    assert np.abs(shares).max() < 5 / np.sqrt(1 << 16)
    # Not the same numbers at another place either.
    assert len(set(np.concatenate(drawn))) > 0.9998 * len(seeds) * (1 << 16)
    # Whether an element falls out says nothing of its neighbours in another.
    dropped = np.array(drawn) < 0.1
    both = dropped[:-1] & np.roll(dropped[1:], 1, axis=1)
    assert abs(both.mean() - 0.01) < 0.001


@pytest.mark.parametrize("dropout_prob", [0.1, 0.5])
def test_dropout_keeps_the_sum(dropout_prob):
    inputs = tf.ones((64, 96, 128))
    outputs = kernels.dropout(inputs, dropout_prob, tf.constant([3, 4])).numpy()
    share = np.mean(outputs == 0)
    deviation = np.sqrt(dropout_prob * (1 - dropout_prob) / outputs.size)
    assert abs(share - dropout_prob) < 4 * deviation
    np.testing.assert_allclose(outputs[outputs != 0], 1 / (1 - dropout_prob))


@pytest.mark.backends
def test_dropout_is_repeated_by_its_seed_on_any_backend():
    def drop(seed):
        outputs = kernels.dropout(keras.ops.ones((50, 200)), 0.1, seed)
        return keras.ops.convert_to_numpy(outputs)

    generator = keras.random.SeedGenerator(1)
    seed, another = generator.next(), generator.next()
    assert abs(np.mean(drop(seed) == 0) - 0.1) < 0.02
    np.testing.assert_array_equal(drop(seed), drop(seed))
    assert (drop(seed) != drop(another)).mean() > 0.1


def both_ways(plain, compiled, *inputs):
    """Returns outputs and gradients of each, for one upstream gradient."""
    results = []
    for function in (plain, compiled):
        floats = [x for x in inputs if x.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            outputs = function(*inputs)
        upstream = tf.random.stateless_normal(
            outputs.shape, [7, 7], dtype=outputs.dtype
        )
        results.append([outputs, *tape.gradient(outputs, floats, upstream)])
    return results


def normal(shape, dtype="float64", seed=0):
    generator = np.random.default_rng(seed)
    return tf.cast(generator.normal(size=shape), dtype)


@pytest.mark.parametrize("name", sorted(ops.ACTIVATIONS))
def test_activations_are_the_plain_ones(name):
    plain, compiled = both_ways(
        ops.ACTIVATIONS[name],
        kernels.TRAINING_ACTIVATIONS[name],
        normal((8, 160)) * 3,
    )
    for expected, given in zip(plain, compiled, strict=True):
        # 1 + tanh rounds to 1e-16, which a factor near -4 makes 1e-15; XLA's
        # tanh is another by some such steps.
        np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-13)


def test_add_and_norm_is_keras_own_after_the_same_dropout():
    layer_norm = keras.layers.LayerNormalization(epsilon=1e-12, dtype="float64")
    layer_norm.build((None, 144))
    seed = tf.constant([5, 6])

    def plain(inputs, residual, gamma, beta):
        summed = kernels.dropout(inputs, 0.1, seed) + residual
        mean, variance = tf.nn.moments(summed, -1, keepdims=True)
        return tf.nn.batch_normalization(
            summed, mean, variance, beta, gamma, 1e-12
        )

    def compiled(inputs, residual, gamma, beta):
        return kernels.dropout_add_norm(
            inputs, residual, gamma, beta, seed, dropout_prob=0.1, epsilon=1e-12
        )

    inputs = normal((6, 5, 144)), normal((6, 5, 144), seed=1)
    weights = normal((144,), seed=2), normal((144,), seed=3)
    expected, given = both_ways(plain, compiled, *inputs, *weights)
    for one, other in zip(expected, given, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-11)
    layer_norm.gamma.assign(weights[0])
    layer_norm.beta.assign(weights[1])
    undropped = kernels.dropout_add_norm(
        *inputs, *weights, seed, dropout_prob=0.0, epsilon=1e-12
    )
    np.testing.assert_allclose(
        undropped, layer_norm(inputs[0] + inputs[1]), rtol=1e-9, atol=1e-11
    )


def test_attention_probs_are_the_plain_softmax():
    seed = tf.constant([8, 9])
    mask = np.random.default_rng(0).integers(0, 2, (3, 1, 1, 130))
    adder = tf.constant((mask - 1) * 10000.0)

    def plain(scores):
        probs = tf.nn.softmax(scores * 0.125 + adder)
        return kernels.dropout(probs, 0.1, seed)

    def compiled(scores):
        return kernels.attention_probs(
            scores, adder, seed, scale=0.125, dropout_prob=0.1
        )

    expected, given = both_ways(plain, compiled, normal((3, 4, 9, 130)))
    for one, other in zip(expected, given, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_statistics_of_half_precision_are_taken_in_float32(dtype):
    # In bfloat16 the mean of these would be 256 exactly, the variance lost.
    inputs = tf.cast(256.0 + np.arange(128)[None] % 2 * 2, "bfloat16")
    ones, zeros = tf.ones(128, dtype), tf.zeros(128, dtype)
    outputs = kernels.dropout_add_norm(
        inputs,
        tf.zeros_like(inputs),
        ones,
        zeros,
        tf.constant([0, 0]),
        dropout_prob=0.0,
        epsilon=1e-12,
    )
    assert outputs.dtype == tf.bfloat16
    np.testing.assert_allclose(
        tf.cast(outputs, "float32"), np.arange(128)[None] % 2 * 2 - 1.0
    )
