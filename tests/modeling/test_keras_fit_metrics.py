"""The labels and weights that Keras's metrics compare with the outputs."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling.keras_fit import labels_and_weights
from tests.support.model_cases import (
    CONFIG,
    MODELS,
    create_inputs,
    create_labels,
    create_loss,
)


def test_the_labels_of_one_output_are_an_array():
    features = {
        "label_ids": np.array([2, 0, 1], "int32"),
        "is_real_example": np.array([1, 1, 0], "int32"),
    }
    labels, weights = labels_and_weights(modeling.ClassifierLoss(), features)
    np.testing.assert_array_equal(labels, [2, 0, 1])
    np.testing.assert_array_equal(weights, [1.0, 1.0, 0.0])


def test_the_labels_of_several_outputs_have_their_names():
    features = {
        "input_ids": np.array([[3, 4, 5]], "int32"),
        "masked_lm_ids": np.array([[7, 0]], "int32"),
        "masked_lm_weights": np.array([[1, 0]], "float32"),
        "next_sentence_labels": np.array([[1]], "int32"),
    }
    labels, weights = labels_and_weights(modeling.PretrainingLoss(), features)
    np.testing.assert_array_equal(labels["masked_lm_logits"], [[7, 0]])
    np.testing.assert_array_equal(weights["masked_lm_logits"], [[1, 0]])
    np.testing.assert_array_equal(labels["next_sentence_logits"], [[1]])
    np.testing.assert_array_equal(weights["next_sentence_logits"], [1])


def test_labels_that_a_loss_leaves_out_are_none():
    features = {
        "input_ids": np.array([[3, 4, 5]], "int32"),
        "masked_lm_ids": np.array([[7, 0]], "int32"),
        "masked_lm_weights": np.array([[1, 0]], "float32"),
    }
    loss = modeling.PretrainingLoss(next_sentence=False)
    labels, _ = labels_and_weights(loss, features)
    assert labels["next_sentence_logits"] is None


def leave_out_padding(labels, name, shape):
    """Returns the weights of labels, and adds them to the labels as `name`.

    All but the first of each row are padding. None = a loss without weights.
    """
    weights = np.ones(shape, "float32")
    if name is not None:
        weights[:, 1:] = 0
        labels[name] = weights
    return weights


def evaluate_labels(model, inputs, labels):
    """Returns the metrics of inputs and labels that are two arguments."""
    return model.evaluate(inputs, labels, verbose=0, return_dict=True)


def evaluate_features(model, inputs, labels):
    """Returns the metrics of a dataset of features that contain the labels."""
    features = tf.data.Dataset.from_tensors(inputs | labels)
    return model.evaluate(features, verbose=0, return_dict=True)


EVALUATIONS = pytest.mark.parametrize(
    "evaluate", [evaluate_labels, evaluate_features]
)


@pytest.mark.backends
@EVALUATIONS
@pytest.mark.parametrize(
    ("kind", "label", "label_weights"),
    [
        ("classifier", "label_ids", None),
        ("tokens", "label_ids", "label_weights"),
    ],
)
def test_metrics_compare_the_only_output_with_its_labels(
    evaluate, kind, label, label_weights
):
    model = MODELS[kind](seed=1)
    inputs, labels = create_inputs(kind), create_labels(kind)
    is_right = model.predict(inputs, verbose=0).argmax(-1) == labels[label]
    weights = leave_out_padding(labels, label_weights, is_right.shape)
    model.compile(
        "adam",
        create_loss(kind),
        metrics=["accuracy"],
        weighted_metrics=["accuracy"],
    )
    results = evaluate(model, inputs, labels)
    assert results["accuracy"] == pytest.approx(is_right.mean())
    assert results["weighted_accuracy"] == pytest.approx(
        np.average(is_right, weights=weights)
    )


# Of losses whose labels are not named as the outputs are.
@pytest.mark.backends
@EVALUATIONS
@pytest.mark.parametrize(
    ("kind", "output", "label", "label_weights"),
    [
        ("spans", "end_logits", "end_positions", None),
        (
            "pretrainer",
            "masked_lm_logits",
            "masked_lm_ids",
            "masked_lm_weights",
        ),
    ],
)
def test_metrics_compare_one_of_several_outputs_with_its_labels(
    evaluate, kind, output, label, label_weights
):
    model = MODELS[kind](seed=1)
    inputs, labels = create_inputs(kind), create_labels(kind)
    logits = model.predict(inputs, verbose=0)[output]
    is_right = logits.argmax(-1) == labels[label]
    weights = leave_out_padding(labels, label_weights, is_right.shape)
    model.compile(
        "adam",
        create_loss(kind),
        metrics={output: ["accuracy"]},
        weighted_metrics={output: ["accuracy"]},
    )
    results = evaluate(model, inputs, labels)
    assert results[f"{output}_accuracy"] == pytest.approx(is_right.mean())
    assert results[f"{output}_weighted_accuracy"] == pytest.approx(
        np.average(is_right, weights=weights)
    )


@pytest.mark.backends
def test_an_output_may_have_a_loss_and_metrics_of_keras():
    model = MODELS["pretrainer"](seed=1)
    inputs, ids = create_inputs("pretrainer"), create_labels("pretrainer")
    ids = ids["masked_lm_ids"]
    name = "masked_lm_logits"
    is_right = model.predict(inputs, verbose=0)[name].argmax(-1) == ids
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", {name: loss}, weighted_metrics={name: ["accuracy"]})
    weights = np.arange(ids.size, dtype="float32").reshape(ids.shape)
    results = model.evaluate(
        inputs,
        {name: ids},
        sample_weight={name: weights},
        verbose=0,
        return_dict=True,
    )
    expected = np.average(is_right, weights=weights)
    assert results[f"{name}_accuracy"] == pytest.approx(expected)


def test_a_loss_without_labels_has_no_metrics():
    model = modeling.BertEmbedder(CONFIG)
    model.compile("adam", modeling.ContrastiveLoss(0.1), metrics=["accuracy"])
    with pytest.raises(ValueError, match="ContrastiveLoss has no labels"):
        model.fit(create_inputs("choices"), verbose=0)
