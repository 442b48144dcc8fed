"""Fused operations, against their plain versions in ops.py.

tests/modeling/test_ops.py compares the plain versions with their formulas, and
tests/modeling/test_task_models_golden.py the whole network with Google's code.
"""

import pytest
import tensorflow as tf

from modeling import ops, plain_ops
from modeling.accelerated import fusions
from tests.support.plain_versions import (
    assert_same_activation,
    assert_same_as_plain,
    assert_same_attention_probs,
    assert_same_dropout_add_norm,
    create_layer_norm,
    draw_numbers,
    list_versions,
)

# A single column, fewer than a register of the processor contains, and more.
for_each_width = pytest.mark.parametrize("width", [1, 3, 130])
for_each_dtype = pytest.mark.parametrize(
    "dtype", ["float64", "float32", "bfloat16"]
)
# TensorFlow fuses these operations in 32 and 16 bits only.
for_each_fused_dtype = pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
# The axes before the last one: rows, or sequences of positions.
for_each_leading_axes = pytest.mark.parametrize("leading_axes", [(12,), (2, 4)])
for_each_activation = pytest.mark.parametrize("name", plain_ops.ACTIVATIONS)


@for_each_width
@for_each_dtype
@for_each_leading_axes
def test_a_fused_dense_layer_is_the_plain_one(leading_axes, dtype, width):
    kernel = draw_numbers(width, 24)
    tensors = [draw_numbers(*leading_axes, width), kernel, draw_numbers(24)]
    assert_same_as_plain(fusions.dense, ops.dense, tensors, dtype)


@for_each_width
@for_each_dtype
def test_a_fused_look_up_is_the_plain_one(dtype, width):
    options = {"ids": tf.constant([[0, 8, 8], [3, 0, 1]])}
    tensors = [draw_numbers(9, width)]
    assert_same_as_plain(fusions.look_up, ops.look_up, tensors, dtype, options)


@for_each_width
@for_each_dtype
def test_a_fused_reshape_is_the_plain_one(dtype, width):
    tensors = [draw_numbers(12, width), draw_numbers(3, 4, width)]
    assert_same_as_plain(fusions.reshape_like, ops.reshape_like, tensors, dtype)


@for_each_width
@for_each_dtype
@for_each_activation
def test_a_fused_activation_is_the_plain_one(name, dtype, width):
    assert_same_activation(
        fusions.activation, name, dtype, width, training=False
    )


@for_each_width
@for_each_dtype
def test_a_fused_swap_of_attention_heads_is_the_plain_one(dtype, width):
    tensors = [draw_numbers(2, 3, 5, width)]
    assert_same_as_plain(
        fusions.swap_attention_heads,
        ops.swap_attention_heads,
        tensors,
        dtype,
        {"training": False},
    )


@for_each_width
@for_each_fused_dtype
@pytest.mark.parametrize("num_elements", [24, 70_000])
def test_a_fused_layer_norm_is_the_plain_one(num_elements, dtype, width):
    tensors = [draw_numbers(max(num_elements // width, 2), width) * 3]
    assert_same_as_plain(
        fusions.layer_norm,
        ops.layer_norm,
        tensors,
        dtype,
        {"layer": create_layer_norm(width, dtype), "training": False},
        {"layer": create_layer_norm(width, "float64"), "training": False},
    )


@for_each_width
@for_each_fused_dtype
def test_fused_attention_probabilities_are_the_plain_ones(dtype, width):
    assert_same_attention_probs(
        fusions.attention_probs, dtype, width, seed=None
    )


@for_each_width
@for_each_fused_dtype
@for_each_leading_axes
def test_a_fused_sum_and_layer_norm_are_the_plain_ones(
    leading_axes, dtype, width
):
    assert_same_dropout_add_norm(
        fusions.add_norm, leading_axes, dtype, width, seed=None
    )


def test_every_fused_version_is_compared():
    """If you add a version, compare it above, and add it here."""
    assert list_versions(fusions) == {
        "activation",
        "add_norm",
        "attention_probs",
        # It computes nothing. test_ops_versions.py checks its error.
        "check_range",
        "dense",
        "layer_norm",
        "look_up",
        # It chooses the versions, as test_ops_versions.py checks.
        "may_fuse",
        "reshape_like",
        "swap_attention_heads",
    }
