"""The random numbers of dropout, and what compiled operations keep exact."""

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from modeling.accelerated import compiled


def bits_of(seed, number=1 << 20):
    random_bits = tf.function(compiled.random_bits, jit_compile=True)
    return random_bits((number,), tf.constant(seed, tf.int32)).numpy()


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
    # Nor is one seed the other shifted: almost all numbers are different.
    assert len(set(np.concatenate(drawn))) > 0.9998 * len(seeds) * (1 << 16)
    # Whether an element falls out says nothing of its neighbours in another.
    dropped = np.array(drawn) < 0.1
    both = dropped[:-1] & np.roll(dropped[1:], 1, axis=1)
    assert abs(both.mean() - 0.01) < 0.001


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_statistics_of_half_precision_are_taken_in_float32(dtype):
    # In bfloat16 the mean of these would be 256 exactly, the variance lost.
    inputs = tf.cast(256.0 + np.arange(128)[None] % 2 * 2, "bfloat16")
    layer = keras.layers.LayerNormalization(epsilon=1e-12, dtype=dtype)
    layer.build((None, 128))
    outputs = compiled.dropout_add_norm(
        inputs, tf.zeros_like(inputs), layer, 0.0, seed=tf.constant([0, 0])
    )
    assert outputs.dtype == tf.bfloat16
    np.testing.assert_allclose(
        tf.cast(outputs, "float32"), np.arange(128)[None] % 2 * 2 - 1.0
    )
