"""Blocks that are traced once for all."""

import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling.accelerated import graphs
from tests.support import models
from tests.support.model_cases import outputs_and_gradients

BATCH = models.create_batch([32, 9, 32, 20], 32)


def create_model(**kwargs):
    config = models.tiny_config(
        hidden_size=128, num_hidden_layers=3, initializer_range=0.2
    )
    return models.built(modeling.BertModel(config, seed=0, **kwargs))


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"gradient_checkpointing": True}, marks=pytest.mark.slow),
        {"trim_padding": True},
    ],
    ids=["plain", "gradient_checkpointing", "trim_padding"],
)
def test_outputs_and_gradients_are_those_of_blocks_traced_each(settings):
    # In float64, for there to be no rounding to tell apart.
    model = create_model(dtype="float64", **settings)
    seed = tf.constant([7, 0], tf.int64)
    graph = outputs_and_gradients(model, training=True, seed=seed)
    # Without a graph each block is called by itself.
    results = graph(BATCH), graph.python_function(BATCH)
    for pair in zip(*map(tf.nest.flatten, results), strict=True):
        np.testing.assert_allclose(*pair, rtol=1e-9, atol=1e-9)


def test_blocks_are_alike_but_for_names_weights_and_what_is_frozen():
    blocks = create_model().encoder.blocks
    block = blocks[1]
    block.trainable = False
    assert graphs.are_alike(blocks)
    key = block.attention.key
    before = key.dtype_policy
    key.dtype_policy = "mixed_bfloat16"
    assert not graphs.are_alike(blocks)
    key.dtype_policy = before
    assert graphs.are_alike(blocks)
    block.intermediate.enable_lora(2)
    assert not graphs.are_alike(blocks)
