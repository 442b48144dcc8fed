"""What all processors of classification tasks do."""

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import (
    ClassificationProcessor,
    TaskDefinition,
)
from data.sets.held_sets import HeldSets

EXAMPLES = [InputExample(f"dev-{index}", "a text") for index in range(4)]


class Sets(HeldSets):
    """Sets that all contain the same examples."""

    def read_sets(self, set_name):
        """Returns a list of the examples."""
        return {set_name: [*EXAMPLES]}

    def read_labels(self):
        """Fails, because a score must read no file."""
        raise AssertionError


def test_a_task_is_scored_by_its_accuracy_and_for_each_label():
    labels, predictions = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    scores = ClassificationProcessor(Sets()).score(
        EXAMPLES, labels, predictions, labels=["ham", "spam"]
    )
    assert scores == {
        "eval_accuracy": 3 / 4,
        "ham_precision": 1.0,
        "ham_recall": 1 / 2,
        "ham_f1": pytest.approx(2 / 3),
        "ham_support": 2,
        "spam_precision": pytest.approx(2 / 3),
        "spam_recall": 1.0,
        "spam_f1": pytest.approx(4 / 5),
        "spam_support": 2,
    }


def test_a_regression_has_no_scores_of_labels():
    processor = ClassificationProcessor(
        Sets(), TaskDefinition(metrics=("pearson",))
    )
    numbers = np.array([0.5, 1.0, 2.0, 4.0])
    scores = processor.score(EXAMPLES, numbers, 2 * numbers)
    assert scores == {"pearson": pytest.approx(1)}


def test_take_frees_the_examples_of_a_set():
    processor = ClassificationProcessor(Sets())
    examples = processor.sets.read("dev")
    assert processor.take("dev") is examples
    with pytest.raises(RuntimeError, match="dev set"):
        processor.sets.read("dev")
