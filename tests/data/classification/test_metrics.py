"""The metrics, against their formulas worked out by hand."""

import numpy as np
import pytest

from data.classification import metrics
from model_folders.scores import LabelScores


@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [
        # tp = 2, fp = 1, fn = 1, tn = 2.
        pytest.param(
            [1, 1, 1, 0, 0, 0],
            [1, 1, 0, 1, 0, 0],
            {"f1": 4 / 6, "eval_accuracy": 4 / 6, "matthews": (4 - 1) / 9},
            id="two_classes",
        ),
        pytest.param(
            [1, 0],
            [0, 0],
            {"f1": 0.0, "matthews": 0.0},
            id="only_one_class_predicted",
        ),
        # Over all labels tp = 2, fp = 1, fn = 1. By label F1 = 1, 0, 0.
        pytest.param(
            [[1, 0, 0], [1, 1, 0], [0, 0, 0]],
            [[1, 0, 0], [1, 0, 1], [0, 0, 0]],
            {"eval_accuracy": 2 / 3, "f1_micro": 4 / 6, "f1_macro": 1 / 3},
            id="multilabel",
        ),
        pytest.param(
            [1.0, 2.0, 3.0],
            [1.0, 4.0, 9.0],
            {"spearman": 1.0, "pearson": 8 / np.sqrt(2 * 98 / 3)},
            id="numbers",
        ),
        pytest.param(
            [1.0, 2.0, 3.0],
            [2.0] * 3,
            {"pearson": 0.0, "spearman": 0.0},
            id="constant_predictions",
        ),
    ],
)
def test_each_metric_equals_its_formula(labels, predictions, expected):
    scores = metrics.compute_metrics([*expected], labels, predictions)
    assert [*scores] == [*expected]
    assert scores == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [
        pytest.param([1.0], [2.0], id="one_example"),
        pytest.param([1.0, 2.0], [1.0, np.nan], id="nan"),
        pytest.param([1.0, 2.0], [-np.inf, 3.0], id="infinite"),
    ],
)
def test_a_correlation_needs_two_examples_and_finite_numbers(
    labels, predictions
):
    names = ["pearson", "spearman"]
    scores = metrics.compute_metrics(names, labels, predictions)
    assert scores == pytest.approx(dict.fromkeys(names, np.nan), nan_ok=True)


OF_LABEL_A = LabelScores("a", 2 / 3, 2 / 3, pytest.approx(2 / 3), support=3)
OF_LABEL_B = LabelScores("b", 1 / 2, 1.0, pytest.approx(2 / 3), support=1)


def test_each_label_has_metrics_of_its_own():
    rows = np.array([[1, 0], [1, 1], [1, 0], [0, 0]])
    predicted = np.array([[1, 0], [0, 1], [1, 0], [1, 1]])
    scores = metrics.score_each_label(rows, predicted, ["a", "b"])
    assert scores == [OF_LABEL_A, OF_LABEL_B]


def test_a_single_label_is_scored_as_on_or_off():
    rows = np.array([[1], [1], [1], [0]])
    predicted = np.array([[1], [0], [1], [1]])
    assert metrics.score_each_label(rows, predicted, ["a"]) == [OF_LABEL_A]


def test_each_class_has_metrics_of_its_own():
    pair = np.array([0, 1, 0, 0]), np.array([0, 1, 0, 1])
    scores = metrics.score_each_label(*pair, ["none", "b"])
    of_none = LabelScores("none", 1.0, 2 / 3, pytest.approx(4 / 5), support=3)
    assert scores == [of_none, OF_LABEL_B]
