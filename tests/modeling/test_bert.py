"""The encoder's inputs, and each of its outputs.

tests/modeling/test_task_models_golden.py compares their numbers with Google's.
"""

import numpy as np
import pytest

from modeling import BertModel, named_variables
from tests.support.model_cases import (
    BATCH_SIZE,
    CONFIG,
    LENGTH,
    WIDTH,
    assert_close,
    create_features,
    create_inputs,
)
from tests.support.models import built


def test_each_output_of_the_encoder_is_that_of_its_layer():
    model = BertModel(CONFIG)
    features = create_inputs("bert")
    outputs = model(features)
    ids, segments = features["input_ids"], features["segment_ids"]
    embedded = model.embeddings(ids, segments)
    assert_close(outputs["embedding_output"], embedded, 0)
    assert len(outputs["all_encoder_layers"]) == CONFIG.num_hidden_layers
    for layer in outputs["all_encoder_layers"]:
        assert layer.shape == (BATCH_SIZE, LENGTH, WIDTH)
    sequence = outputs["sequence_output"]
    assert_close(sequence, outputs["all_encoder_layers"][-1], 0)
    assert_close(outputs["pooled_output"], model.pooler(sequence[:, 0]), 0)


def test_the_variables_have_the_names_of_released_checkpoints():
    names = [
        [*named_variables(built(BertModel(CONFIG, **options)))]
        for options in ({}, {"name": "student"})
    ]
    assert "bert/encoder/layer_0/attention/self/query/kernel" in names[0]
    assert names[0] == names[1]


def test_a_configuration_must_be_a_bert_config():
    with pytest.raises(TypeError, match="BertConfig"):
        BertModel(CONFIG.to_dict())


def test_bert_takes_a_dict_or_several_tensors():
    bert = BertModel(CONFIG)
    features = create_inputs("bert")
    assert_close(bert(features), bert(*features.values()), 0)
    with pytest.raises(ValueError, match="all features in the dict"):
        bert(features, features["input_mask"])


def test_absent_mask_and_segments_are_ones_and_zeros():
    features = create_features()
    features["input_mask"][:] = 1
    features["segment_ids"][:] = 0
    model = BertModel(CONFIG)
    expected = model(features)
    assert_close(model({"input_ids": features["input_ids"]}), expected, 0)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("input_mask", (LENGTH,), "input_mask"),
        # One row or column must not be repeated for all others.
        ("input_mask", (1, LENGTH), "input_mask"),
        ("input_mask", (BATCH_SIZE, 1), "input_mask"),
        ("segment_ids", (1, LENGTH), "token_type_ids"),
    ],
)
def test_a_wrong_shape_is_named(name, shape, message):
    features = {"input_ids": np.zeros((BATCH_SIZE, LENGTH), "int32")}
    features |= {name: np.ones(shape, "int32")}
    with pytest.raises(ValueError, match=message):
        BertModel(CONFIG)(features)


def test_segments_with_another_axis_are_refused():
    """The first sequence's segments would be repeated for all others."""
    features = create_inputs("bert")
    features["segment_ids"] = features["segment_ids"][:, None]
    with pytest.raises(ValueError, match="token_type_ids"):
        BertModel(CONFIG, trim_padding=True)(features)


@pytest.mark.parametrize("masks_each", [False, True])
def test_no_position_sees_a_later_one(masks_each):
    """A mask for each position says the same as left_to_right."""
    ids = create_features()["input_ids"]
    mask = np.tile(
        np.tril(np.ones((LENGTH, LENGTH), "int32")), (BATCH_SIZE, 1, 1)
    )
    model = BertModel(CONFIG, left_to_right=not masks_each)
    changed = np.where(np.arange(LENGTH) < LENGTH // 2, ids, 1)
    one, other = (
        model(input_ids, mask if masks_each else None)["sequence_output"]
        for input_ids in (ids, changed)
    )
    half = LENGTH // 2
    assert_close(one[:, :half], other[:, :half], 1e-6)
    assert np.abs(one[:, half:] - other[:, half:]).max() > 0.01


@pytest.mark.parametrize("trim_padding", [False, True])
def test_the_last_wordpiece_is_pooled(trim_padding):
    features = create_features()
    ids, mask = features["input_ids"], features["input_mask"]
    model = BertModel(CONFIG, left_to_right=True, trim_padding=trim_padding)
    outputs = model(ids, mask)
    last = np.asarray(outputs["sequence_output"])[
        np.arange(BATCH_SIZE), mask.sum(-1) - 1
    ]
    assert_close(outputs["pooled_output"], model.pooler(last), 1e-6)
    # A mask with from positions, which says the same.
    square = np.repeat(mask[:, None], LENGTH, 1)
    assert_close(
        model(ids, square)["pooled_output"], outputs["pooled_output"], 1e-5
    )
