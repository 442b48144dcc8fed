"""The distribution of the initial weights."""

import keras
import numpy as np
import pytest
import scipy.stats

from modeling.initializers import TruncatedNormal


def draw_weights(dtype):
    """Returns a million initial weights."""
    initializer = TruncatedNormal(
        stddev=0.02, seed=keras.random.SeedGenerator(3)
    )
    return initializer((1000, 1000), dtype)


def to_array(values):
    """Returns weights of any type as a flat array of float32."""
    return np.asarray(keras.ops.cast(values, "float32")).ravel()


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_initial_weights_are_of_the_type_of_the_variable(dtype):
    assert keras.backend.standardize_dtype(draw_weights(dtype).dtype) == dtype


@pytest.mark.parametrize(
    ("dtype", "limit"),
    [("float64", 0.04), ("float32", 0.04), ("bfloat16", 0.0401)],
)
def test_initial_weights_end_at_two_standard_deviations(dtype, limit):
    values = to_array(draw_weights(dtype))
    assert abs(values).max() <= limit
    assert abs(values.mean()) < 1e-4


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_initial_weights_are_truncated_normal(dtype):
    expected = scipy.stats.truncnorm(-2, 2, scale=0.02)
    test = scipy.stats.kstest(to_array(draw_weights(dtype)), expected.cdf)
    assert test.pvalue > 1e-6


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_initial_weights_do_not_depend_on_their_neighbors(dtype):
    values = to_array(draw_weights(dtype))
    correlation = np.corrcoef(values[:-1], values[1:])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(values.size)


def test_initial_weights_of_16_bits_are_not_drawn_coarsely():
    assert len(np.unique(to_array(draw_weights("bfloat16")))) > 2000
