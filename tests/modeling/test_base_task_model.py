"""What the bases of models do for the head of a subclass, which is a toy.

tests/modeling/test_task_models.py tests the heads of the project.
"""

import keras
import numpy as np
import pytest

from modeling.base_task_model import OneHeadModel, TaskModel
from modeling.heads import OutputHead
from modeling.sequence_ops import attended_positions
from tests.support.model_cases import (
    BATCH_SIZE,
    CONFIG,
    LENGTH,
    WIDTH,
    create_features,
)
from tests.support.models import built


@keras.saving.register_keras_serializable("tests")
class ToyModel(OneHeadModel):
    """Has three outputs for each WordPiece, and notes what its head gets."""

    head_input = "sequence_output"

    def __init__(self, config, **arguments):
        super().__init__(config, **arguments)
        self.head = self.create_output_head(3, "toy")
        self.noted = []

    def apply_head(self, encoded, features, seed):
        self.noted.append((encoded, seed))
        return self.head(encoded["sequence_output"])


class PooledModel(ToyModel):
    head_input = "pooled_output"

    def apply_head(self, encoded, features, seed):
        return self.head(encoded["pooled_output"])


class NotingHead(keras.layers.Layer):
    """Notes the shape for which it is built."""

    def build(self, input_shape):
        self.noted = input_shape


@pytest.fixture
def features():
    """A batch with padding, with more features than a model reads."""
    return create_features()


@pytest.mark.parametrize(
    ("keras_class", "shape"),
    [
        (ToyModel, (BATCH_SIZE, LENGTH, 3)),
        (PooledModel, (BATCH_SIZE, 3)),
    ],
)
def test_the_head_reads_the_output_that_its_class_names(
    features, keras_class, shape
):
    model = built(keras_class(CONFIG))
    assert isinstance(model.head, OutputHead)
    assert model.head.output_weights.shape == (3, WIDTH)
    assert tuple(model(features).shape) == shape


@pytest.mark.parametrize(
    ("keras_class", "shape"),
    [(ToyModel, (None, None, WIDTH)), (PooledModel, (None, WIDTH))],
)
def test_the_head_is_built_for_the_shape_of_that_output(keras_class, shape):
    model = keras_class(CONFIG)
    model.head = NotingHead()
    assert built(model).head.noted == shape


def test_build_creates_all_weights_without_a_batch(features):
    model = built(ToyModel(CONFIG, bilstm=True))
    paths = [weight.path for weight in model.weights]
    assert len(set(paths)) == len(paths)
    model(features)
    assert [weight.path for weight in model.weights] == paths


def test_without_training_the_head_drops_out_nothing(features):
    model = built(ToyModel(CONFIG))
    given = keras.ops.convert_to_tensor([5, 6], dtype="int64")
    model(features)
    model(features, training=False, seed=given)
    assert [seed for _, seed in model.noted] == [None, None]


def test_the_head_has_its_own_seed_of_a_call(features):
    model = built(ToyModel(CONFIG, seed=3))
    given = keras.ops.convert_to_tensor([5, 6], dtype="int64")
    for _ in range(2):
        model(features, training=True, seed=given)
    first, second = (np.asarray(seed) for _, seed in model.noted)
    np.testing.assert_array_equal(first, second)
    assert first.tolist() != [5, 6]


def test_a_call_in_training_draws_a_seed_if_none_is_given(features):
    model = built(ToyModel(CONFIG, seed=3))
    for _ in range(2):
        model(features, training=True)
    first, second = (np.asarray(seed).tolist() for _, seed in model.noted)
    assert first != second


def test_a_lstm_replaces_both_outputs_of_the_encoder(features):
    model = built(ToyModel(CONFIG, bilstm=True))
    model(features)
    ((encoded, _),) = model.noted
    plain = model.bert(
        features["input_ids"], features["input_mask"], features["segment_ids"]
    )
    sequence, pooled = model.bilstm(
        plain["sequence_output"], attended_positions(features["input_mask"])
    )
    np.testing.assert_allclose(encoded["sequence_output"], sequence, atol=1e-6)
    np.testing.assert_allclose(encoded["pooled_output"], pooled, atol=1e-6)


def test_without_a_mask_all_positions_are_read(features):
    model = built(ToyModel(CONFIG))
    del features["segment_ids"]
    unmasked = {"input_ids": features["input_ids"]}
    ones = np.ones_like(features["input_mask"])
    zeros = np.zeros_like(ones)
    masked = {"input_mask": ones, "segment_ids": zeros, **unmasked}
    np.testing.assert_allclose(model(unmasked), model(masked), atol=1e-6)


def test_other_features_of_a_batch_are_ignored(features):
    model = built(ToyModel(CONFIG))
    needed = ("input_ids", "input_mask", "segment_ids")
    alone = {name: features[name] for name in needed}
    np.testing.assert_array_equal(model(features), model(alone))


def test_a_missing_feature_is_named():
    with pytest.raises(ValueError, match="input_ids"):
        built(ToyModel(CONFIG))({"input_mask": np.ones((1, 2), "int32")})


@pytest.mark.parametrize("bilstm", [False, True])
def test_a_model_of_its_config_has_the_same_network(bilstm):
    model = ToyModel(CONFIG, bilstm=bilstm, left_to_right=True, seed=3)
    config = model.get_config()
    assert config["bilstm"] is bilstm
    assert config["left_to_right"] is True
    other = ToyModel.from_config(config)
    assert (other.bilstm is not None) == bilstm
    assert other.get_config() == config


def test_a_class_without_a_head_cannot_be_created():
    with pytest.raises(TypeError, match="apply_head"):
        TaskModel(CONFIG)
