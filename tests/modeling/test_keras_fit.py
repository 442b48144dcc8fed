"""What `fit`, `evaluate` and `predict` of a model do with a batch."""

import numpy as np
import pytest

import modeling
from tests.support.models import SMALL

LABELS = np.array([0, 1], "int32")


def create_features(**changes):
    """Returns two rows of ids, and changed or further features."""
    features = {"input_ids": np.array([[1, 2, 3], [4, 5, 6]], "int32")}
    return features | changes


@pytest.fixture
def classifier():
    """A compiled classifier of two labels, which learns nothing."""
    model = modeling.BertClassifier(SMALL, 2)
    model.compile("sgd", modeling.ClassifierLoss())
    model.optimizer.learning_rate.assign(0.0)
    return model


def cross_entropy(logits):
    """Returns the mean cross entropy of LABELS."""
    powers = np.exp(logits)
    probabilities = powers / powers.sum(-1, keepdims=True)
    return -np.log(probabilities[np.arange(2), LABELS]).mean()


def test_compile_creates_the_weights():
    model = modeling.BertClassifier(SMALL, 2)
    model.compile("sgd", modeling.ClassifierLoss())
    assert model.built


def test_evaluate_returns_the_loss_of_the_outputs(classifier):
    logits = classifier.predict(create_features(), verbose=0)
    loss = classifier.evaluate(create_features(), LABELS, verbose=0)
    assert loss == pytest.approx(cross_entropy(logits), abs=1e-6)


def test_labels_may_be_among_the_features(classifier):
    beside = classifier.evaluate(create_features(), LABELS, verbose=0)
    features = create_features(label_ids=LABELS)
    assert classifier.evaluate(features, verbose=0) == pytest.approx(beside)


def test_an_example_of_weight_zero_does_not_count(classifier):
    first = {"input_ids": create_features()["input_ids"][:1]}
    alone = classifier.evaluate(first, LABELS[:1], verbose=0)
    weighted = classifier.evaluate(
        create_features(),
        LABELS,
        sample_weight=np.array([1.0, 0.0], "float32"),
        verbose=0,
    )
    assert weighted == pytest.approx(alone, abs=1e-6)


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_a_feature_of_another_name_is_refused(classifier, method):
    features = create_features(attention_mask=np.ones((2, 3), "int32"))
    labels = () if method == "predict" else (LABELS,)
    with pytest.raises(ValueError, match="attention_mask"):
        getattr(classifier, method)(features, *labels, verbose=0)


def test_labels_that_the_loss_lacks_are_named():
    model = modeling.BertSpanLabeler(SMALL)
    model.compile("sgd", modeling.SpanLoss())
    with pytest.raises(ValueError, match="start_positions, end_positions"):
        model.fit(create_features(), LABELS, verbose=0)
