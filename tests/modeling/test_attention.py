"""Attention by its formula in NumPy, with masks of each shape."""

import keras
import numpy as np
import pytest

from modeling.attention import AttentionLayer

# batch, positions that attend, positions that they attend to, heads, head size
B, F, T, N, H = 2, 3, 4, 2, 5


def softmax(scores):
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def layer():
    """An attention of positions of width 6 to positions of width 7."""
    attention = AttentionLayer(
        N,
        H,
        attention_probs_dropout_prob=0.5,
        kernel_initializer=keras.initializers.GlorotUniform(1),
        dtype="float64",
    )
    attention.build((B, F, 6), (B, T, 7))
    return attention


@pytest.fixture(scope="module")
def tensors():
    """Positions that attend, and those that they attend to."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(B, F, 6)), rng.normal(size=(B, T, 7))


def compute_outputs(layer, tensors, mask=None, **options):
    outputs = layer(*tensors, mask, **options)
    return keras.ops.convert_to_numpy(outputs)


def expected_outputs(layer, tensors, mask):
    """Returns the attention of each head, without its rounding and dropout."""
    from_tensor, to_tensor = tensors

    def project(dense, inputs):
        kernel = keras.ops.convert_to_numpy(dense.kernel)
        return (inputs @ kernel).reshape(*inputs.shape[:2], N, H)

    query = project(layer.query, from_tensor)
    key = project(layer.key, to_tensor)
    value = project(layer.value, to_tensor)
    scores = np.einsum("bfnh,btnh->bnft", query, key) / np.sqrt(H)
    probs = softmax(scores - 10000.0 * (1 - mask[:, None]))
    outputs = np.einsum("bnft,btnh->bfnh", probs, value)
    return outputs.reshape(B, F, N * H)


@pytest.mark.parametrize("from_length", [1, F])
def test_outputs_are_those_of_the_formula(layer, tensors, from_length):
    mask = np.random.default_rng(1).integers(0, 2, (B, from_length, T))
    mask[..., 0] = 1
    outputs = compute_outputs(layer, tensors, mask.astype("int32"))
    expected = expected_outputs(layer, tensors, mask)
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-12)


def test_without_a_mask_all_attend_to_all(layer, tensors):
    ones = np.ones((B, F, T), "int32")
    outputs = compute_outputs(layer, tensors)
    np.testing.assert_array_equal(
        outputs, compute_outputs(layer, tensors, ones)
    )


def test_a_row_that_masks_every_position_attends_to_all(layer, tensors):
    """A softmax of scores that are all -inf would not be a number."""
    zeros = np.zeros((B, 1, T), "int32")
    np.testing.assert_allclose(
        compute_outputs(layer, tensors, zeros),
        compute_outputs(layer, tensors),
        atol=1e-9,
    )


def test_only_a_call_with_a_seed_drops_weights(layer, tensors):
    seed = keras.random.SeedGenerator(1).next()
    outputs = compute_outputs(layer, tensors)
    np.testing.assert_array_equal(
        compute_outputs(layer, tensors, training=True), outputs
    )
    dropped = compute_outputs(layer, tensors, training=True, seed=seed)
    assert np.abs(dropped - outputs).max() > 0.01
