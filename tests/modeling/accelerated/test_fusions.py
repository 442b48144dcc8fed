"""TensorFlow fuses operations on the CPU, and results do not change."""

import collections
import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import test_util

import modeling
from modeling.accelerated import prediction
from modeling.dense import Dense
from tests.support import models

CPU_INFO = Path("/proc/cpuinfo")
INPUTS = ("input_ids", "input_mask", "segment_ids")
# (lengths, longest)
BATCH = [64, 64, 9] * 6, 64


def create_model(hidden_act, dtype):
    config = models.tiny_config(
        hidden_size=128, hidden_act=hidden_act, initializer_range=0.2
    )
    return models.built(modeling.BertModel(config, dtype=dtype, seed=0))


def create_forward(model, shape):
    """Returns a graph for prediction."""
    call = prediction.GraphPredictor(model)

    @tf.function(
        input_signature=[tf.TensorSpec(shape, tf.int32)] * 3, autograph=False
    )
    def forward(*inputs):
        outputs = call(dict(zip(INPUTS, inputs, strict=True)))
        return outputs["sequence_output"], outputs["pooled_output"]

    return forward


def create_batch(lengths, length):
    return [*map(tf.constant, models.create_batch(lengths, length).values())]


def operations(forward, *inputs):
    """Returns {name: number} in the graph that runs.

    A fusion's name has its parts, and a call that XLA compiles has the name of
    the function.
    """
    context.enable_run_metadata()
    # Drop what the calls of earlier tests recorded.
    context.export_run_metadata()
    forward(*inputs)
    metadata = context.export_run_metadata()
    context.disable_run_metadata()
    names = []
    for function in metadata.function_graphs:
        for node in function.post_optimization_graph.node:
            parts = [part.decode() for part in node.attr["fused_ops"].list.s]
            if "_XlaMustCompile" in node.attr:
                name = node.attr["f"].func.name
                parts = [re.fullmatch(r"__inference__?(\w+)_\d+", name)[1]]
            names.append("+".join([node.op, *parts]))
    return collections.Counter(names)


@pytest.mark.skipif(
    not test_util.IsMklEnabled(), reason="this TensorFlow has no oneDNN"
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "mixed_bfloat16"])
@pytest.mark.parametrize("hidden_act", ["gelu", "gelu_erf"])
@pytest.mark.parametrize("shape", [(None, None), (18, 64)])
def test_the_optimizer_finds_what_it_can_fuse(hidden_act, dtype, shape):
    if "bfloat16" in dtype and "avx512" not in CPU_INFO.read_text():
        pytest.skip("this CPU has no products in bfloat16")
    operation_counts = operations(
        create_forward(create_model(hidden_act, dtype), shape),
        *create_batch(*BATCH),
    )
    activation = {"gelu": "GeluApproximate", "gelu_erf": "GeluExact"}
    expected = {
        # Query, key and value of two layers.
        "_FusedMatMul+BiasAdd": 6,
        # After attention and after the activation.
        "_FusedMatMul+BiasAdd+Add": 4,
        f"_FusedMatMul+BiasAdd+{activation[hidden_act]}": 2,
        "_FusedMatMul+BiasAdd+Tanh": 1,
        "_MklFusedBatchMatMulV2+Mul+Add": 2,
        "_MklLayerNorm": 5,
    }
    assert {name: operation_counts[name] for name in expected} == expected


@pytest.mark.parametrize("rank", [2, 3])
def test_the_gradient_of_a_bias_is_added_up_in_float32(rank):
    layer = Dense(8, dtype="mixed_bfloat16")
    layer.build((None, 8))
    generator = np.random.default_rng(0)
    # Added up in bfloat16, ones beyond 256 would no longer count.
    upstream = generator.normal(1, 1, (4096, 8)).astype("float32")
    upstream = tf.reshape(upstream, (-1, 8) if rank == 2 else (4, -1, 8))
    with tf.GradientTape() as tape:
        outputs = tf.cast(layer(tf.ones_like(upstream)), tf.float32)
        loss = tf.reduce_sum(outputs * upstream)
    gradient = tape.gradient(loss, layer.bias.value)
    expected = np.asarray(upstream, np.float64).reshape(-1, 8).sum(0)
    # `upstream` and its sum are rounded to the eight bits of bfloat16.
    np.testing.assert_allclose(gradient, expected, rtol=0.01)
