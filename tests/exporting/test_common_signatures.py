"""The signature `ids`: its inputs, and its checks."""

import numpy as np
import pytest
import tensorflow as tf
from scipy import special

import modeling
from exporting import common_signatures, label_outputs
from modeling import ops
from tests.support.serving.exports import LABELS, create_model

IDS = np.array([[5, 6, 7]], np.int32)
ONES = np.ones_like(IDS)
ZEROS = np.zeros_like(IDS)


@pytest.fixture(scope="module")
def model():
    """A tiny classifier of three labels."""
    return create_model(modeling.BertClassifier, len(LABELS))


@pytest.fixture
def predict(model):
    """The function of the signature `ids` of the classifier."""
    return label_outputs.create_label_predictor(model, "classification")


@pytest.fixture
def ids_signature(model, predict):
    """The signature `ids` of the classifier."""
    return common_signatures.create_ids_signature(predict, model)


def test_the_inputs_of_ids_are_named_as_in_googles_code(ids_signature):
    assert [spec.name for spec in ids_signature.inputs] == [
        "input_ids",
        "input_mask",
        "segment_ids",
    ]


def test_the_inputs_of_ids_have_any_size(ids_signature):
    shapes = [spec.shape.as_list() for spec in ids_signature.inputs]
    assert shapes == [[None, None]] * 3


def test_the_inputs_of_multiple_choice_have_an_axis_of_choices():
    model = create_model(modeling.BertMultipleChoice)
    signature = common_signatures.create_ids_signature(dict, model)
    shapes = [spec.shape.as_list() for spec in signature.inputs]
    assert shapes == [[None, None, None]] * 3


def test_ids_computes_what_the_model_computes(model, ids_signature):
    outputs = ids_signature.function(IDS, ONES, ZEROS)
    logits = model({"input_ids": IDS, "input_mask": ONES, "segment_ids": ZEROS})
    np.testing.assert_allclose(
        outputs["probabilities"], special.softmax(logits, -1), atol=1e-6
    )


@pytest.mark.parametrize(
    ("inputs", "culprit"),
    [
        ((IDS - 6, ONES, ZEROS), "input_ids must be from 0 to"),
        ((IDS, ONES + 1, ZEROS), "input_mask must be from 0 to 1"),
        ((IDS, ONES, ZEROS + 99), "segment_ids must be from 0 to"),
    ],
)
def test_ids_outside_the_range_of_the_model_are_refused(
    inputs, culprit, ids_signature
):
    with pytest.raises(tf.errors.InvalidArgumentError, match=culprit):
        ids_signature.function(*map(tf.constant, inputs))


def test_ids_are_not_checked_in_a_plain_export(model):
    """LiteRT has no assertions."""
    signature = common_signatures.create_ids_signature(dict, model)
    with ops.plain_versions():
        outputs = signature.function(IDS - 6, ONES, ZEROS)
    assert outputs["input_ids"].numpy().tolist() == (IDS - 6).tolist()
