"""The metrics, against their formulas worked out by hand."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.label_codec import LabelCodec


@pytest.mark.parametrize(
    "labels, predictions, expected",
    [
        # tp = 2, fp = 1, fn = 1, tn = 2.
        (
            [1, 1, 1, 0, 0, 0],
            [1, 1, 0, 1, 0, 0],
            {"f1": 4 / 6, "eval_accuracy": 4 / 6, "matthews": (4 - 1) / 9},
        ),
        # Only one class is predicted.
        ([1, 0], [0, 0], {"f1": 0.0, "matthews": 0.0}),
        # Over all labels tp = 2, fp = 1, fn = 1; by label F1 = 1, 0, 0.
        (
            [[1, 0, 0], [1, 1, 0], [0, 0, 0]],
            [[1, 0, 0], [1, 0, 1], [0, 0, 0]],
            {"eval_accuracy": 2 / 3, "f1_micro": 4 / 6, "f1_macro": 1 / 3},
        ),
        (
            [1.0, 2.0, 3.0],
            [1.0, 4.0, 9.0],
            {"spearman": 1.0, "pearson": 8 / np.sqrt(2 * 98 / 3)},
        ),
        ([1.0, 2.0, 3.0], [2.0] * 3, {"pearson": 0.0, "spearman": 0.0}),
    ],
)
def test_each_metric_equals_its_formula(labels, predictions, expected):
    scores = metrics.compute_metrics([*expected], labels, predictions)
    assert [*scores] == [*expected]
    assert scores == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [
        ([1.0], [2.0]),
        ([1.0, 2.0], [1.0, np.nan]),
        ([1.0, 2.0], [-np.inf, 3.0]),
    ],
)
def test_one_example_and_numbers_that_are_not_finite_have_no_correlation(
    labels, predictions
):
    names = ["pearson", "spearman"]
    scores = metrics.compute_metrics(names, labels, predictions)
    assert scores == pytest.approx(dict.fromkeys(names, np.nan), nan_ok=True)


OF_LABEL_A = {
    "a_precision": 2 / 3,
    "a_recall": 2 / 3,
    "a_f1": 2 / 3,
    "a_support": 3,
}
OF_LABEL_B = {
    "b_precision": 1 / 2,
    "b_recall": 1.0,
    "b_f1": 2 / 3,
    "b_support": 1,
}


def test_each_label_has_metrics_of_its_own():
    rows = np.array([[1, 0], [1, 1], [1, 0], [0, 0]])
    predicted = np.array([[1, 0], [0, 1], [1, 0], [1, 1]])
    scores = metrics.compute_metrics((), rows, predicted, ["a", "b"])
    assert scores == pytest.approx(OF_LABEL_A | OF_LABEL_B)


def test_one_label_may_be_on_or_off():
    rows = np.array([[1], [1], [1], [0]])
    predicted = np.array([[1], [0], [1], [1]])
    scores = metrics.compute_metrics((), rows, predicted, ["a"])
    assert scores == pytest.approx(OF_LABEL_A)


def test_each_class_has_metrics_of_its_own():
    pair = np.array([0, 1, 0, 0]), np.array([0, 1, 0, 1])
    scores = metrics.compute_metrics((), *pair, ["none", "b"])
    of_none = {
        "none_precision": 1.0,
        "none_recall": 2 / 3,
        "none_f1": 4 / 5,
        "none_support": 3,
    }
    assert scores == pytest.approx(of_none | OF_LABEL_B)


def score_numbers(labels, predicted):
    """Returns the Pearson correlation of the examples that have a label."""

    def score(examples, labels, predictions):
        assert len(examples) == len(labels)
        return metrics.compute_metrics(["pearson"], labels, predictions)

    examples = [
        InputExample("test-1", "a text", label=label) for label in labels
    ]
    codec = LabelCodec("regression", None)
    return metrics.score_labeled(examples, predicted, codec, score)


def test_examples_without_a_label_are_counted_and_not_scored():
    scores = score_numbers([1.0, None, 2.0], [3.0, 9.0, 5.0])
    assert scores == {"pearson": pytest.approx(1), "num_without_label": 1}


def test_a_set_without_labels_has_no_scores():
    assert score_numbers([None, None], [1.0, 2.0]) == {}


def test_each_example_needs_a_prediction():
    with pytest.raises(ValueError, match="argument 2 is longer than"):
        score_numbers([1.0, 2.0], [1.0, 2.0, 3.0])


def test_ranks_and_gains_are_those_of_the_definitions(caplog):
    rng = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(6) for _ in range(15)]
    gains = rng.integers(0, 4, len(queries)) * (rng.random(len(queries)) < 0.2)
    gains[:15] = 0
    gains[15:30] = np.eye(15)[14]
    scores = rng.normal(size=len(queries))
    # Beyond the tenth place.
    scores[29] = -9.0
    actual = metrics.score_ranking(queries, gains, scores)
    shape = 6, 15
    rows = [
        gains_and_scores
        for gains_and_scores in zip(
            gains.reshape(shape), scores.reshape(shape), strict=True
        )
        if gains_and_scores[0].any()
    ]
    ndcg = np.mean([ndcg_score([g], [s], k=10) for g, s in rows])
    firsts = [np.flatnonzero(g[np.argsort(-s)][:10])[:1] for g, s in rows]
    assert firsts[0].size == 0
    mrr = np.mean([1 / (f[0] + 1) if f.size else 0 for f in firsts])
    assert actual == pytest.approx((mrr, ndcg))
    assert f"{6 - len(rows)} of 6 queries have no relevant" in caplog.text


def test_equal_predictions_do_not_improve_a_rank():
    mrr, _ = metrics.score_ranking(["q"] * 3, np.array([1, 0, 0]), np.zeros(3))
    assert mrr == pytest.approx(1 / 3)


def test_queries_without_a_relevant_passage_have_no_score():
    scores = metrics.score_ranking(["q"], np.array([0]), np.array([1.0]))
    assert np.isnan(scores).all()
