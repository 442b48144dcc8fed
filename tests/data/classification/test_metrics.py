"""The metrics, against their formulas worked out by hand."""

import numpy as np
import pytest
import sklearn.metrics

from data.classification import metrics


def test_classification():
    # tp = 2, fp = 1, fn = 1, tn = 2.
    found = metrics.compute_metrics(
        ("f1", "accuracy", "matthews"), [1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0]
    )
    assert list(found) == ["f1", "accuracy", "matthews"]
    assert found == pytest.approx(
        {"f1": 4 / 6, "accuracy": 4 / 6, "matthews": (4 - 1) / 9}
    )


def test_one_class_predicted():
    found = metrics.compute_metrics(
        ("f1", "matthews"), np.array([1, 0]), np.array([0, 0])
    )
    assert found == {"f1": 0.0, "matthews": 0.0}


def test_regression():
    names = ("pearson", "spearman")
    found = metrics.compute_metrics(names, [1.0, 2.0, 3.0], [1.0, 4.0, 9.0])
    x, y = np.array([-1, 0, 1]), np.array([1, 4, 9]) - 14 / 3
    pearson = x @ y / np.sqrt((x @ x) * (y @ y))
    assert found == pytest.approx({"pearson": pearson, "spearman": 1.0})
    found = metrics.compute_metrics(names, [1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    assert found == {"pearson": 0.0, "spearman": 0.0}


@pytest.mark.parametrize(
    "predicted", [[1.0, np.nan], [1.0, np.inf], [-np.inf, 3.0], [2.0]]
)
def test_no_correlation_of_one_example_or_what_is_not_finite(predicted):
    labels = [1.0, 2.0][: len(predicted)]
    found = metrics.compute_metrics(("pearson", "spearman"), labels, predicted)
    assert np.isnan([found["pearson"], found["spearman"]]).all()


def test_multilabel():
    labels = [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    predictions = [[1, 0, 0], [1, 0, 1], [0, 0, 0]]
    found = metrics.compute_metrics(
        ("accuracy", "f1_micro", "f1_macro"), labels, predictions
    )
    # Over all labels tp = 2, fp = 1, fn = 1; by label F1 = 1, 0, 0.
    assert found == pytest.approx(
        {"accuracy": 2 / 3, "f1_micro": 4 / 6, "f1_macro": 1 / 3}
    )


def test_each_label():
    rows = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]])
    guesses = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0]])
    names = ["a", "b", "c"]
    for pair in ((rows, guesses), (rows.argmax(1), guesses.argmax(1))):
        found = metrics.compute_metrics((), *pair, names)
        expected = sklearn.metrics.precision_recall_fscore_support(
            *pair, labels=[0, 1, 2], zero_division=0
        )
        for rate, values in zip(
            ("precision", "recall", "f1"), expected, strict=False
        ):
            found_values = [found[f"{name}_{rate}"] for name in names]
            np.testing.assert_allclose(found_values, values)


@pytest.mark.parametrize(
    "args, message",
    [
        ((("bleu",), [1], [1]), r"unknown metrics \['bleu'\]"),
        ((("f1",), [1], [1, 0]), r"same shape.*\(1,\) and \(2,\)"),
        ((("f1",), [], []), "not be empty"),
    ],
)
def test_wrong_arguments(args, message):
    with pytest.raises(ValueError, match=message):
        metrics.compute_metrics(*args)
