"""Computes the weights that make up for classes of different sizes."""

import collections
from collections.abc import Iterable, Sequence

from data.classification.classification_examples import InputExample


def compute_class_weights(
    labels: Sequence[str], examples: Iterable[InputExample]
) -> dict[str, float]:
    """Returns {label: weight of its class in the training loss}.

    The weight of a class with n examples is N / (L * n), for N examples and L
    labels in total. So the weights of the examples of each class add up to
    N / L. For example, of 3 examples of ham and 1 of spam, the weights are
    4 / (2 * 3) and 4 / (2 * 1), and add up to 2 for each class.
    """
    counts = collections.Counter(example.label for example in examples)
    return {
        name: counts.total() / (len(labels) * max(counts[name], 1))
        for name in labels
    }
