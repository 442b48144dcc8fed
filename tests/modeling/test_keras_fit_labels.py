"""Labels and weights of Keras's `fit`, joined to the features of a loss."""

import numpy as np
import pytest

from modeling.keras_fit import merge_labels
from modeling.losses import ClassifierLoss, TokenLoss

IDS = np.zeros((2, 3), "int32")


def test_the_labels_of_fit_join_the_inputs():
    loss = ClassifierLoss()
    labels = np.array([0, 1])
    weights = np.array([1.0, 0.5])
    expected = {
        "input_ids": IDS,
        "label_ids": labels,
        "example_weights": weights,
    }
    inputs = {"input_ids": IDS}
    for given in (labels, {"label_ids": labels}):
        assert merge_labels(loss, inputs, given, weights) == expected
    # `fit` got no labels of their own, as the inputs contain them.
    features = {**inputs, "label_ids": labels}
    assert merge_labels(loss, features, None, None) == features
    assert inputs == {"input_ids": IDS}


def test_the_weights_of_fit_are_those_of_words_in_a_token_loss():
    labels, weights = np.zeros((2, 3)), np.ones((2, 3))
    joined = merge_labels(TokenLoss(), {}, {"label_ids": labels}, weights)
    assert joined == {"label_ids": labels, "label_weights": weights}


def test_missing_labels_are_named():
    with pytest.raises(ValueError, match="TokenLoss lacks label_weights"):
        merge_labels(TokenLoss(), {"label_ids": IDS}, None, None)
