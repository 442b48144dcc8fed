"""The weights of classes of different sizes."""

from data.classification.class_weights import compute_class_weights
from data.classification.classification_examples import InputExample


def test_balanced_weights_let_all_classes_count_the_same():
    rows = [InputExample("row", "text", label=label) for label in "aaaaaabbb"]
    weights = compute_class_weights(["a", "b", "c"], rows)
    # A class that no example has gets a finite weight too.
    assert weights == {"a": 9 / (3 * 6), "b": 9 / (3 * 3), "c": 3.0}
