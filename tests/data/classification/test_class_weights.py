"""The weights of classes in the training loss."""

from data.classification.class_weights import (
    compute_class_weights,
    log_class_weights,
)
from data.classification.classification_examples import InputExample


def test_balanced_weights_let_all_classes_count_the_same(caplog):
    rows = [InputExample("row", "text", label=label) for label in "aaaaaabbb"]
    weights = compute_class_weights(["a", "b", "c"], rows)
    # A class that no example has gets a finite weight too.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}
    assert not caplog.records


def test_the_log_shows_the_weights_of_classes(caplog):
    caplog.set_level("INFO")
    log_class_weights({"ham": 2 / 3, "spam": 2.0})
    assert "Class weights: ham 0.667, spam 2.000" in caplog.text
