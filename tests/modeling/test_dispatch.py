"""Which version of an operation a call runs, in a `with` block and outside.

test_fusions_plain_versions.py and test_compiled_plain_versions.py of
tests/modeling/accelerated/ compare the versions.
"""

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

from modeling import dispatch, ops
from modeling.accelerated import version_choice


def test_plain_versions_switches_the_faster_versions_off():
    inputs = tf.cast(np.random.default_rng(0).normal(size=(4, 256)), "float32")
    arguments = dict(dropout_prob=0.5, seed=tf.constant((5, 6)))
    faster = ops.dropout(inputs, **arguments)
    with dispatch.plain_versions():
        plain = ops.dropout(inputs, **arguments)
        again = ops.dropout(inputs, **arguments)
    # Another generator draws what is dropped.
    assert not np.array_equal(plain, faster)
    np.testing.assert_array_equal(plain, again)
    np.testing.assert_array_equal(ops.dropout(inputs, **arguments), faster)


def test_plain_versions_concerns_only_its_own_thread():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with dispatch.plain_versions():
            assert dispatch.uses_plain_versions()
            assert not pool.submit(dispatch.uses_plain_versions).result()
        assert not dispatch.uses_plain_versions()


def training_by_position(inputs, training):
    return inputs


def seed_instead_of_training(inputs, *, seed):
    return inputs


@pytest.mark.parametrize(
    "function", [training_by_position, seed_instead_of_training]
)
def test_a_training_parameter_that_is_positional_is_refused(function):
    with pytest.raises(TypeError, match=f"{function.__name__} must have"):
        dispatch.dispatched(training_parameter="training")(function)


def test_training_is_a_keyword_only_argument_of_an_operation():
    with pytest.raises(TypeError, match="positional argument"):
        ops.swap_attention_heads(tf.zeros((1, 2, 3, 4)), True)


@pytest.mark.parametrize(
    "versions",
    [
        version_choice.COMPILED,
        version_choice.FUSED_ON_CPU,
        version_choice.INFERENCE,
    ],
)
def test_an_operation_with_several_versions_has_a_training_parameter(versions):
    for operation in versions:
        assert operation.training_parameter, operation.__name__
