"""The dense layer of the network, against NumPy."""

import keras
import numpy as np
import pytest

from modeling.dense import Dense

pytestmark = pytest.mark.backends
INPUTS = np.array([[1.0, 2.0], [-3.0, 0.5]], "float32")


def create_dense(**options):
    """Returns a dense layer of two units, whose kernel swaps its inputs."""
    layer = Dense(2, **options)
    layer.build(INPUTS.shape)
    layer.set_weights([np.eye(2)[::-1], np.array([0.5, -1.0])])
    return layer


def compute_outputs(layer):
    """Returns the outputs of INPUTS as an array."""
    return keras.ops.convert_to_numpy(layer(INPUTS))


def test_a_dense_layer_without_an_activation_is_linear():
    assert compute_outputs(create_dense()).tolist() == [[2.5, 0.0], [1.0, -4.0]]


def test_a_dense_layer_applies_its_activation():
    outputs = compute_outputs(create_dense(hidden_act="relu"))
    assert outputs.tolist() == [[2.5, 0.0], [1.0, 0.0]]


def test_a_quantized_dense_layer_computes_nearly_the_same():
    layer = create_dense(hidden_act="relu")
    expected = compute_outputs(layer)
    layer.quantize("int8")
    assert keras.backend.standardize_dtype(layer.kernel.dtype) == "int8"
    np.testing.assert_allclose(compute_outputs(layer), expected, atol=0.05)
