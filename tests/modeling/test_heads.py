"""The heads, against sections 3.1 and 4 of the paper in NumPy."""

import math

import keras
import numpy as np
import pytest

from modeling.heads import (
    BidirectionalLSTM,
    MaskedLanguageModelHead,
    OutputHead,
)
from tests.support.models import tiny_config

pytestmark = pytest.mark.backends
WIDTH = 4
CONFIG = tiny_config(
    vocab_size=6,
    hidden_size=WIDTH,
    num_attention_heads=1,
    hidden_act="gelu_erf",
    layer_norm_eps=1e-3,
)


def initializer():
    """Returns an initializer of large weights."""
    return keras.initializers.RandomNormal(stddev=1.0, seed=3)


def draw_numbers(*shape):
    """Returns random numbers, always the same of a shape."""
    return np.random.default_rng(0).normal(size=shape)


def test_logits_are_the_products_with_the_rows_of_the_weights():
    head = OutputHead(2, initializer(), dtype="float64")
    head.build((None, WIDTH))
    head.output_weights.assign([[1, 0, 0, 0], [0, 1, 2, 0]])
    head.output_bias.assign([0.5, -0.5])
    logits = head(np.array([[1.0, 2.0, 3.0, 4.0]]))
    assert keras.ops.convert_to_numpy(logits).tolist() == [[1.5, 7.5]]


def test_a_new_head_starts_with_a_bias_of_zero():
    head = OutputHead(3, initializer())
    head.build((None, WIDTH))
    assert keras.ops.convert_to_numpy(head.output_bias).tolist() == [0, 0, 0]


def expected_masked_lm_logits(head, inputs, words):
    """Returns the logits of task 1: words times a transformed output."""
    output_bias, kernel, bias, scale, offset = head.get_weights()
    dense = inputs @ kernel + bias
    activated = 0.5 * dense * (1 + np.vectorize(math.erf)(dense / 2**0.5))
    centered = activated - activated.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    transformed = centered / np.sqrt(variance + 1e-3) * scale + offset
    return transformed @ words.T + output_bias


def test_masked_words_are_predicted_with_the_word_embeddings():
    head = MaskedLanguageModelHead(CONFIG, initializer(), dtype="float64")
    head.build()
    head.set_weights([draw_numbers(*weight.shape) for weight in head.weights])
    inputs, words = draw_numbers(2, 3, WIDTH), draw_numbers(6, WIDTH)
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(head(inputs, words)),
        expected_masked_lm_logits(head, inputs, words),
        rtol=0,
        atol=1e-9,
    )


@pytest.fixture
def bilstm():
    """A bidirectional LSTM with random weights."""
    layer = BidirectionalLSTM(WIDTH, keras.random.SeedGenerator(1))
    layer.build()
    return layer


def test_padding_does_not_change_a_bilstm(bilstm):
    inputs = draw_numbers(1, 3, WIDTH).astype("float32")
    mask = np.array([[1, 1, 0]], "int32")
    padded, _ = bilstm(inputs, mask)
    alone, _ = bilstm(inputs[:, :2], mask[:, :2])
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(padded)[:, :2],
        keras.ops.convert_to_numpy(alone),
        rtol=0,
        atol=1e-6,
    )


def test_the_pooled_output_of_a_bilstm_is_both_ends_of_a_text(bilstm):
    inputs = draw_numbers(1, 3, WIDTH).astype("float32")
    mask = np.array([[1, 1, 0]], "int32")
    outputs, pooled = map(keras.ops.convert_to_numpy, bilstm(inputs, mask))
    # The forward half has read all at the last word, the other at the first.
    half = WIDTH // 2
    ends = np.concatenate([outputs[:, 1, :half], outputs[:, 0, half:]], -1)
    np.testing.assert_array_equal(pooled, ends)
