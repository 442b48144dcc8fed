"""Which version of an operation a call runs on TensorFlow.

test_fusions_plain_versions.py and test_compiled_plain_versions.py of
tests/modeling/accelerated/ compare the versions.
"""

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

from modeling import ops
from modeling.accelerated import compiled


def test_plain_versions_switches_the_faster_versions_off():
    inputs = tf.cast(np.random.default_rng(0).normal(size=(4, 256)), "float32")
    arguments = dict(dropout_prob=0.5, seed=tf.constant((5, 6)))
    faster = ops.dropout(inputs, **arguments)
    with ops.plain_versions():
        plain = ops.dropout(inputs, **arguments)
        again = ops.dropout(inputs, **arguments)
    # Another generator draws what is dropped.
    assert not np.array_equal(plain, faster)
    np.testing.assert_array_equal(plain, again)
    np.testing.assert_array_equal(ops.dropout(inputs, **arguments), faster)


def test_plain_versions_concerns_only_its_own_thread():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with ops.plain_versions():
            assert ops.uses_plain_versions()
            assert not pool.submit(ops.uses_plain_versions).result()
        assert not ops.uses_plain_versions()


def trace(function, *shape):
    """Returns the types of the operations of a function's graph.

    A call that XLA compiles has the type "compiled".
    """
    traced = tf.function(function, autograph=False)
    graph = traced.get_concrete_function(tf.TensorSpec(shape, tf.float32)).graph
    return {
        "compiled" if "_XlaMustCompile" in node.attr else node.op
        for node in graph.as_graph_def().node
    }


@pytest.mark.parametrize(
    ("width", "is_compiled"),
    [
        (compiled.MIN_COMPILED_WIDTH, True),
        (None, True),
        (compiled.MIN_COMPILED_WIDTH - 1, False),
    ],
)
def test_a_training_step_compiles_only_wide_inputs(width, is_compiled):
    def activate(inputs):
        return ops.activation(inputs, "relu", training=True)

    assert ("compiled" in trace(activate, 2, width)) == is_compiled


def test_inference_compiles_nothing():
    def activate(inputs):
        return ops.activation(inputs, "relu", training=False)

    assert "compiled" not in trace(activate, 2, compiled.MIN_COMPILED_WIDTH)


@pytest.mark.parametrize("difference", [0, -1])
def test_the_loss_of_many_classes_is_compiled(difference):
    def compute(logits):
        return ops.cross_entropy(logits, tf.constant([0, 1]))

    num_classes = compiled.MIN_COMPILED_CLASSES + difference
    assert ("compiled" in trace(compute, 2, num_classes)) == (difference == 0)


@pytest.mark.parametrize(("device", "is_fused"), [("CPU", True), ("", False)])
def test_a_graph_on_the_cpu_fuses_attention(device, is_fused):
    """Only the plain version stops the gradient of the adder."""

    def attend(scores):
        adder = tf.zeros((1, 1, 1, 1))
        with tf.device(device):
            scores = 2 * scores
            return ops.attention_probs(scores, adder, 0.5, 0.1, seed=None)

    is_plain = "StopGradient" in trace(attend, 1, 2, 3, 3)
    assert is_plain != is_fused


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_graph_fails_on_ids_out_of_range(wrong):
    @tf.function(autograph=False)
    def check(ids):
        ops.check_range(ids, "segment_ids", num_rows=3)
        return ids

    check(tf.constant([0, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment_ids"):
        check(tf.constant([0, wrong]))
