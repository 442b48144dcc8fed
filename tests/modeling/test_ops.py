"""The plain operations, against their formulas in NumPy."""

import keras
import numpy as np
import pytest

from modeling import ops

pytestmark = pytest.mark.backends
INPUTS = np.array([-3.0, -0.5, 0.0, 0.25, 2.0])


def compute_plain(function, *arguments, **options):
    """Returns the result of the plain version as an array."""
    with ops.plain_versions():
        return keras.ops.convert_to_numpy(function(*arguments, **options))


def test_an_activation_keeps_the_type_of_16_bits():
    inputs = keras.ops.convert_to_tensor(INPUTS, "bfloat16")
    outputs = ops.activation(inputs, "gelu", training=False)
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"


def test_ids_look_up_the_rows_of_a_table():
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = compute_plain(ops.look_up, table, np.array([[2, 0]]))
    assert rows.tolist() == [[[5.0, 6.0], [1.0, 2.0]]]


def test_a_dense_layer_is_a_product_plus_a_bias():
    kernel = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]])
    outputs = compute_plain(
        ops.dense, np.array([[4.0, 5.0]]), kernel, np.array([0.0, 0.5, 1.0])
    )
    assert outputs.tolist() == [[4.0, 5.5, 24.0]]


def test_masked_positions_have_no_attention():
    scores = np.array([[[[1.0, 2.0, 3.0]]]])
    adder = np.array([[[[0.0, 0.0, -10000.0]]]])
    probs = compute_plain(
        ops.attention_probs, scores, adder, 0.5, 0.1, seed=None
    )
    powers = np.exp([0.5, 1.0])
    np.testing.assert_allclose(
        probs[0, 0, 0], [*powers / powers.sum(), 0.0], rtol=0, atol=1e-6
    )


def test_without_a_seed_nothing_drops_out():
    outputs = compute_plain(ops.dropout, INPUTS, 0.9, seed=None)
    assert outputs.tolist() == INPUTS.tolist()


def test_plain_dropout_drops_its_share_and_scales_up_the_others():
    inputs = keras.ops.ones((50, 200))
    generator = keras.random.SeedGenerator(1)
    seed = generator.next()
    another = generator.next()

    def drop(seed):
        with ops.plain_versions():
            outputs = ops.dropout(inputs, 0.1, seed=seed)
        return keras.ops.convert_to_numpy(outputs)

    dropped = drop(seed)
    assert abs(np.mean(dropped == 0) - 0.1) < 0.02
    np.testing.assert_allclose(dropped[dropped != 0], 1 / 0.9, rtol=1e-6)
    np.testing.assert_array_equal(dropped, drop(seed))
    assert (dropped != drop(another)).mean() > 0.1
    np.testing.assert_array_equal(drop(None), inputs)
