"""The sum of three embeddings, against section 3 of the paper in NumPy."""

import keras
import numpy as np
import pytest

from modeling.embeddings import Embeddings
from tests.support.models import tiny_config

pytestmark = pytest.mark.backends
CONFIG = tiny_config(
    vocab_size=6,
    hidden_size=4,
    max_position_embeddings=3,
    type_vocab_size=2,
    layer_norm_eps=1e-3,
)
INPUT_IDS = np.array([[5, 0, 3], [2, 2, 1]], "int32")
SEGMENT_IDS = np.array([[0, 0, 1], [0, 1, 1]], "int32")


def create_embeddings(**options):
    """Returns embeddings in float64, with different weights in each table."""
    layer = Embeddings(
        CONFIG,
        keras.initializers.RandomNormal(seed=7),
        dtype="float64",
        **options,
    )
    layer.build()
    rng = np.random.default_rng(0)
    layer.set_weights(
        [rng.normal(size=weight.shape) for weight in layer.weights]
    )
    return layer


def expected_embeddings(layer):
    """Returns the normalized sum of the rows of the three tables."""
    words, segments, positions, scale, offset = map(
        keras.ops.convert_to_numpy,
        (
            layer.word_embeddings,
            layer.token_type_embeddings,
            layer.position_embeddings,
            layer.layer_norm.gamma,
            layer.layer_norm.beta,
        ),
    )
    total = words[INPUT_IDS] + segments[SEGMENT_IDS] + positions[None]
    centered = total - total.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    return centered / np.sqrt(variance + 1e-3) * scale + offset


def compute_embeddings(layer, input_ids=INPUT_IDS, segment_ids=SEGMENT_IDS):
    """Returns the embeddings of a batch as an array."""
    return keras.ops.convert_to_numpy(layer(input_ids, segment_ids))


def test_embeddings_are_the_normalized_sum_of_three_tables():
    layer = create_embeddings()
    np.testing.assert_allclose(
        compute_embeddings(layer), expected_embeddings(layer), rtol=0, atol=1e-9
    )


def test_one_hot_embeddings_are_those_of_a_gather():
    layer = create_embeddings(use_one_hot_embeddings=True)
    np.testing.assert_allclose(
        compute_embeddings(layer), expected_embeddings(layer), rtol=0, atol=1e-9
    )


def test_a_shorter_row_has_the_first_positions():
    layer = create_embeddings()
    shorter = compute_embeddings(layer, INPUT_IDS[:, :2], SEGMENT_IDS[:, :2])
    np.testing.assert_allclose(
        shorter, compute_embeddings(layer)[:, :2], rtol=0, atol=1e-12
    )


def test_a_row_beyond_the_positions_is_refused():
    ids = np.zeros((1, 4), "int32")
    with pytest.raises(ValueError, match="A row of 4 ids, but 3 positions"):
        compute_embeddings(create_embeddings(), ids, ids)
