"""One block of the encoder, against Vaswani et al. (2017) in NumPy."""

import keras
import numpy as np
import pytest

from modeling.encoder import Transformer, TransformerBlock
from tests.support.models import NO_DROPOUT, tiny_config

HEADS = 2
WIDTH = 4
SIZE = WIDTH // HEADS
CONFIG = tiny_config(
    hidden_size=WIDTH,
    num_attention_heads=HEADS,
    num_hidden_layers=1,
    intermediate_size=6,
    hidden_act="relu",
    layer_norm_eps=1e-3,
    **NO_DROPOUT,
)
INPUTS = np.random.default_rng(1).normal(size=(2, 3, WIDTH))
# The first row ends with padding.
INPUT_MASK = np.array([[1, 1, 0], [1, 1, 1]], "int32")


@pytest.fixture
def block():
    """A block in float64, with random weights."""
    block = TransformerBlock(
        CONFIG, keras.initializers.Zeros(), dtype="float64", name="layer_0"
    )
    block.build()
    rng = np.random.default_rng(0)
    block.set_weights(
        [rng.normal(size=weight.shape) for weight in block.weights]
    )
    return block


def normalize(inputs, layer):
    """Returns a layer normalization of the last axis."""
    scale, offset = layer.get_weights()
    centered = inputs - inputs.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    return centered / np.sqrt(variance + 1e-3) * scale + offset


def dense(inputs, layer):
    """Returns the product with a kernel, plus a bias."""
    kernel, bias = layer.get_weights()
    return inputs @ kernel + bias


def split_heads(projected):
    """Returns [B, heads, T, size] of a projection [B, T, heads * size]."""
    shape = (*projected.shape[:2], HEADS, SIZE)
    return projected.reshape(shape).transpose(0, 2, 1, 3)


def attend(inputs, attention):
    """Returns softmax(Q K^T / sqrt(size)) V of all heads, side by side."""
    query, key, value = (
        split_heads(dense(inputs, layer))
        for layer in (attention.query, attention.key, attention.value)
    )
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(SIZE)
    scores = np.where(INPUT_MASK[:, None, None] == 1, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    context = powers / powers.sum(-1, keepdims=True) @ value
    return context.transpose(0, 2, 1, 3).reshape(inputs.shape)


def expected_outputs(block):
    """Returns the block's outputs, as figure 1 of the paper shows them."""
    attended = dense(attend(INPUTS, block.attention), block.attention_output)
    attended = normalize(attended + INPUTS, block.attention_layer_norm)
    hidden = np.maximum(dense(attended, block.intermediate), 0)
    outputs = dense(hidden, block.output_dense)
    return normalize(outputs + attended, block.output_layer_norm)


def test_a_block_computes_the_formulas_of_the_paper(block):
    outputs = block(INPUTS, attention_mask=INPUT_MASK[:, None])
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(outputs),
        expected_outputs(block),
        rtol=0,
        atol=1e-9,
    )


def test_heads_that_do_not_divide_the_width_are_refused():
    config = tiny_config(hidden_size=6, num_attention_heads=4)
    with pytest.raises(ValueError, match="must be a multiple of"):
        TransformerBlock(config, keras.initializers.Zeros())


def test_each_block_reads_the_outputs_of_the_one_before():
    config = tiny_config(hidden_size=WIDTH, num_hidden_layers=2)
    encoder = Transformer(config, keras.initializers.RandomNormal(seed=1))
    inputs = INPUTS.astype("float32")
    first, second = encoder(inputs)
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(second),
        keras.ops.convert_to_numpy(encoder.blocks[1](first)),
        rtol=0,
        atol=1e-6,
    )
