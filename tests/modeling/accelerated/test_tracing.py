"""Blocks that are traced once for all."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling.accelerated import tracing
from tests import models


def create_model(**kwargs):
    config = models.tiny_config(
        hidden_size=128, num_hidden_layers=3, initializer_range=0.2
    )
    return models.built(modeling.BertModel(config, seed=0, **kwargs))


def create_gradients(model):
    def gradients(ids, mask, seed):
        with tf.GradientTape() as tape:
            outputs = model(ids, mask, training=True, seed=seed)
            # Of each block's output something else.
            loss = tf.add_n(
                [
                    tf.reduce_sum(tf.sin(layer * (index + 1)))
                    for index, layer in enumerate(outputs["all_encoder_layers"])
                ]
            )
        variables = [v.value for v in model.trainable_variables]
        return outputs["sequence_output"], tape.gradient(loss, variables)

    return gradients


def create_batch():
    ids = np.random.default_rng(0).integers(1, 50, (4, 32)).astype(np.int32)
    return ids, np.ones_like(ids), np.array([7, 0])


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, marks=pytest.mark.slow),
        pytest.param({"gradient_checkpointing": True}, marks=pytest.mark.slow),
        {"unpad": True},
    ],
    ids=["plain", "gradient_checkpointing", "unpad"],
)
def test_outputs_and_gradients_are_those_of_blocks_traced_each(settings):
    # In float64, for there to be no rounding to tell apart.
    gradients = create_gradients(create_model(dtype="float64", **settings))
    batch = create_batch()
    # Without a graph each block is called by itself.
    expected = tf.nest.flatten(gradients(*map(tf.constant, batch)))
    graph = tf.function(gradients, autograph=False)
    found = tf.nest.flatten(graph(*batch))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if one is None:
            # The pooler has no part in the loss.
            assert other is None
            continue
        one, other = (tf.convert_to_tensor(each) for each in (one, other))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def give_lora(block):
    block.intermediate.enable_lora(2)


def change_precision(block):
    block.attention.key.dtype_policy = "mixed_bfloat16"


def change_activation(block):
    block.config = dataclasses.replace(block.config, hidden_act="relu")


def change_dropout(block):
    block.attention.attention_probs_dropout_prob = 0.9


def freeze(block):
    block.trainable = False


@pytest.mark.parametrize(
    ("change", "alike"),
    [
        (give_lora, False),
        (change_precision, False),
        (change_activation, False),
        (change_dropout, False),
        (freeze, True),
    ],
)
def test_blocks_are_alike_but_for_names_weights_and_what_is_frozen(
    change, alike
):
    blocks = create_model().encoder.blocks
    assert tracing.are_alike(blocks)
    change(blocks[1])
    assert tracing.are_alike(blocks) == alike


@pytest.mark.parametrize("training", [True, False])
def test_graphs_for_training_hold_one_block(training):
    model = create_model()

    @tf.function(autograph=False)
    def forward(ids, mask):
        return model(ids, mask, training=training)["sequence_output"]

    ids, mask, _ = create_batch()
    definition = forward.get_concrete_function(ids, mask).graph.as_graph_def()
    products = [
        sum(node.op == "MatMul" for node in nodes)
        for nodes in (
            definition.node,
            *(function.node_def for function in definition.library.function),
        )
    ]
    # Query, key, value, attention's output and two of the feed-forward layer;
    # in the embeddings one of segments, the pooler's is not computed here.
    per_block = 6
    assert max(products) >= per_block
    expected = per_block if training else 3 * per_block
    assert expected <= sum(products) < expected + per_block
