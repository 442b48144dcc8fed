"""The activations of the network, against their formulas in NumPy."""

import math

import keras
import numpy as np
import pytest

from modeling import plain_ops

pytestmark = pytest.mark.backends
INPUTS = np.array([-3.0, -0.5, 0.0, 0.25, 2.0])


def compute(activation):
    """Returns an activation of INPUTS, in float64, as an array."""
    inputs = keras.ops.convert_to_tensor(INPUTS, "float64")
    return keras.ops.convert_to_numpy(activation(inputs))


def test_gelu_is_googles_approximation():
    cubes = INPUTS + 0.044715 * INPUTS**3
    expected = 0.5 * INPUTS * (1 + np.tanh(np.sqrt(2 / np.pi) * cubes))
    np.testing.assert_allclose(
        compute(plain_ops.gelu),
        expected,
        rtol=0,
        atol=1e-12,
    )


def test_gelu_erf_is_exact():
    expected = [0.5 * x * (1 + math.erf(x / 2**0.5)) for x in INPUTS]
    np.testing.assert_allclose(
        compute(plain_ops.gelu_erf),
        expected,
        rtol=0,
        atol=1e-12,
    )
