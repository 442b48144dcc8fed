"""Compiled operations, against their plain versions in ops.py.

test_fusions_plain_versions.py compares the fused ones.
"""

import numpy as np
import pytest
import tensorflow as tf

from modeling import ops, plain_ops
from modeling.accelerated import compiled
from tests.support.plain_versions import (
    assert_same_activation,
    assert_same_as_plain,
    assert_same_attention_probs,
    assert_same_dropout_add_norm,
    draw_numbers,
    list_versions,
)

SEED = tf.constant((5, 6))
# XLA takes seconds for each of these.
for_each_compiled_type = pytest.mark.parametrize(
    ("dtype", "width"),
    [
        ("float64", 130),
        ("float32", 130),
        pytest.param("bfloat16", 130, marks=pytest.mark.slow),
        pytest.param("float64", 1, marks=pytest.mark.slow),
        pytest.param("float64", 3, marks=pytest.mark.soak),
        pytest.param("float32", 1, marks=pytest.mark.soak),
        pytest.param("float32", 3, marks=pytest.mark.soak),
        pytest.param("bfloat16", 1, marks=pytest.mark.soak),
        pytest.param("bfloat16", 3, marks=pytest.mark.soak),
    ],
)


@for_each_compiled_type
@pytest.mark.parametrize("name", plain_ops.ACTIVATIONS)
def test_a_compiled_activation_is_the_plain_one(name, dtype, width):
    assert_same_activation(
        compiled.activation, name, dtype, width, training=True
    )


@for_each_compiled_type
@pytest.mark.parametrize("rate", [0.4, 0])
def test_a_compiled_dropout_is_the_plain_one(rate, dtype, width):
    options = {"dropout_prob": rate, "seed": SEED}
    tensors = [draw_numbers(2, 4, width) * 3]
    assert_same_as_plain(compiled.dropout, ops.dropout, tensors, dtype, options)


@for_each_compiled_type
def test_compiled_attention_probabilities_are_the_plain_ones(dtype, width):
    assert_same_attention_probs(
        compiled.attention_probs, dtype, width, seed=SEED
    )


@for_each_compiled_type
# The axes before the last one: rows, or sequences of positions.
@pytest.mark.parametrize("leading_axes", [(12,), (2, 4)])
def test_a_compiled_dropout_sum_and_layer_norm_are_the_plain_ones(
    leading_axes, dtype, width
):
    assert_same_dropout_add_norm(
        compiled.dropout_add_norm, leading_axes, dtype, width, seed=SEED
    )


@for_each_compiled_type
def test_a_compiled_cross_entropy_is_the_plain_one(dtype, width):
    # The last two labels are no classes.
    labels = [[0, width // 2, width - 1, 0], [width // 3, 0, -1, width]]
    options = {"labels": tf.constant(labels)}
    tensors = [draw_numbers(2, 4, width) * 3]
    assert_same_as_plain(
        compiled.cross_entropy, ops.cross_entropy, tensors, dtype, options
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_compiled_cross_entropy_is_exact_to_float32(dtype):
    logits = tf.cast(draw_numbers(3, 2, 50) * 3 + 1000, dtype)
    labels = tf.constant([[0, 49], [7, -1], [50, 3]], tf.int64)
    # A batch's size and a label's rank may be unknown.
    version = tf.function(
        compiled.cross_entropy,
        input_signature=[
            tf.TensorSpec([None, None, 50], dtype),
            tf.TensorSpec(None, tf.int64),
        ],
        autograph=False,
    )
    losses = version(logits, labels)
    assert losses.dtype == "float32"
    with ops.plain_versions():
        exact = ops.cross_entropy(tf.cast(logits, "float64"), labels)
    np.testing.assert_allclose(losses, exact, rtol=1e-6, atol=1e-6)
    assert np.count_nonzero(losses) == 4


def test_every_compiled_version_is_compared():
    """If you add a version, compare it above, and add it here."""
    assert list_versions(compiled) == {
        "activation",
        "attention_probs",
        "cross_entropy",
        "dropout",
        "dropout_add_norm",
        # These choose the versions, as test_ops_versions.py checks.
        "has_many_classes",
        "is_wide",
        # It returns random numbers, which another test compares.
        "keep_mask",
    }
