"""Which examples are scored: those that have a label."""

import pytest

from data.classification import metrics
from data.classification.classification_examples import InputExample
from data.classification.label_codec import LabelCodec
from model_folders.scores import Scores


def score_numbers(labels, predicted):
    """Returns the Pearson correlation of the examples that have a label."""

    def score(examples, labels, predictions):
        assert len(examples) == len(labels)
        scores = metrics.compute_metrics(["pearson"], labels, predictions)
        return Scores(scores)

    examples = [
        InputExample("test-1", "a text", label=label) for label in labels
    ]
    codec = LabelCodec("regression", None)
    return metrics.score_labeled(examples, predicted, codec, score)


def test_examples_without_a_label_are_counted_and_not_scored():
    scores = score_numbers([1.0, None, 2.0], [3.0, 9.0, 5.0])
    expected = {"pearson": pytest.approx(1), "num_without_label": 1}
    assert scores.overall == expected


def test_a_set_without_labels_has_no_scores():
    assert score_numbers([None, None], [1.0, 2.0]) == Scores()


def test_each_example_needs_a_prediction():
    with pytest.raises(ValueError, match="argument 2 is longer than"):
        score_numbers([1.0, 2.0], [1.0, 2.0, 3.0])
