"""An update is traced once for each shape, where it is accelerated."""

import numpy as np
import pytest
import tensorflow as tf

from modeling import ops
from training.optimizers import accelerated_updates


@pytest.fixture
def traced():
    """(an accelerated update, the shapes for which Python ran it)."""
    shapes = []

    def add_rate(variable, rate):
        shapes.append(tuple(variable.shape))
        variable.assign_add(rate * tf.ones_like(variable))

    return accelerated_updates.trace_update(add_rate), shapes


def test_variables_of_one_shape_share_a_trace(traced):
    update, shapes = traced
    for _ in range(3):
        update(tf.Variable(tf.zeros([2])), rate=tf.constant(0.5))
    assert shapes == [(2,)]


def test_each_shape_has_its_trace(traced):
    update, shapes = traced
    for size in (2, 3):
        update(tf.Variable(tf.zeros([size])), rate=tf.constant(0.5))
    assert shapes == [(2,), (3,)]


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(2, id="uncompiled"),
        pytest.param(accelerated_updates.MIN_COMPILED_ELEMENTS, id="compiled"),
    ],
)
def test_each_call_updates_its_own_variable(traced, size):
    update, _ = traced
    first, second = (tf.Variable(tf.zeros([size])) for _ in range(2))
    update(first, rate=tf.constant(0.5))
    update(second, rate=tf.constant(2.0))
    np.testing.assert_array_equal(first, np.full(size, 0.5))
    np.testing.assert_array_equal(second, np.full(size, 2.0))


def test_a_plain_update_runs_without_a_trace(traced):
    update, shapes = traced
    with ops.plain_versions():
        for _ in range(2):
            update(tf.Variable(tf.zeros([2])), rate=tf.constant(0.5))
    assert len(shapes) == 2


def test_replicas_update_without_a_trace(traced):
    """A trace would capture the variables of its first call."""
    update, shapes = traced
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    with strategy.scope():
        for _ in range(2):
            update(tf.Variable(tf.zeros([2])), rate=tf.constant(0.5))
    assert len(shapes) == 2
