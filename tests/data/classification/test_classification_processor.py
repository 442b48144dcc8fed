"""The processors of classification tasks: what all of them do."""

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from data.classification.classification_processor import (
    ClassificationProcessor,
    TaskDefinition,
)
from data.sets.held_sets import HeldSets
from model_folders.scores import Scores

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
    assert scores.overall == {"eval_accuracy": 3 / 4}
    assert [label.label for label in scores.by_label] == ["ham", "spam"]
    assert [label.recall for label in scores.by_label] == [1 / 2, 1.0]


def test_a_regression_has_no_scores_of_labels():
    processor = ClassificationProcessor(
        Sets(), TaskDefinition(metrics=("pearson",))
    )
    numbers = np.array([0.5, 1.0, 2.0, 4.0])
    scores = processor.score(EXAMPLES, numbers, 2 * numbers)
    assert scores == Scores({"pearson": pytest.approx(1)})


def test_take_frees_the_examples_of_a_set():
    processor = ClassificationProcessor(Sets())
    examples = processor.sets.read("dev")
    assert processor.take("dev") is examples
    with pytest.raises(RuntimeError, match="dev set"):
        processor.sets.read("dev")
