"""The losses against the same formulas in NumPy, and in parts."""

import numpy as np
import pytest

from modeling.base_loss import sum_terms
from modeling.keras_fit import merge_labels
from modeling.losses import ContrastiveLoss, PretrainingLoss
from tests.support.loss_cases import (
    B,
    Draws,
    T,
    classifier_case,
    cosine_case,
    cross_entropy,
    masked_lm_case,
    multi_label_case,
    padded_classifier_case,
    ranking_case,
    regression_case,
    span_case,
    token_case,
    unit_vectors,
    weighted_classifier_case,
    with_ids,
)

CASES = [
    masked_lm_case,
    classifier_case,
    padded_classifier_case,
    weighted_classifier_case,
    span_case,
    token_case,
    regression_case,
    multi_label_case,
    ranking_case,
    cosine_case,
]


def rows_of(tensors, rows):
    """Returns some rows of a tensor, or of each tensor in a dict."""
    if isinstance(tensors, dict):
        return {name: value[rows] for name, value in tensors.items()}
    return tensors[rows]


def sum_parts(terms_of_parts):
    """Returns {name: sum over the parts of a batch}."""
    parts = [*terms_of_parts]
    return {name: sum(terms[name] for terms in parts) for name in parts[0]}


@pytest.mark.parametrize("case", CASES)
def test_a_batch_and_its_parts_equal_the_formula(case):
    loss, outputs, features, expected = case()
    features = with_ids(features)
    total, values = loss(outputs, features)
    assert [*values] == [*loss.term_names]
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12)

    parts = [slice(0, 2), slice(2, 3), slice(3, B)]
    divisors = sum_parts(
        loss.divisors(rows_of(features, rows)) for rows in parts
    )
    sums = [
        loss.sums(rows_of(outputs, rows), rows_of(features, rows))
        for rows in parts
    ]
    means = sum_parts(loss.means(part_sums, divisors) for part_sums in sums)
    np.testing.assert_allclose(sum_terms(means), expected, rtol=0, atol=1e-12)


def test_a_position_outside_the_window_costs_nothing():
    loss, outputs, features, _ = span_case()
    features["start_positions"][:] = T
    features["end_positions"][:] = -1
    total, _ = loss(outputs, with_ids(features))
    assert float(total) == 0.0


def test_partners_are_found_among_the_real_examples_of_a_batch():
    vectors = unit_vectors(Draws(0))
    is_real = np.array([1, 1, 0, 1, 0, 1], "int32")
    features = with_ids({"is_real_example": is_real})
    total, _ = ContrastiveLoss(0.1)(vectors, features)
    first, second = vectors[is_real == 1].swapaxes(0, 1)
    expected = cross_entropy(first @ second.T / 0.1, np.arange(4)).mean()
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12)


def test_the_masked_lm_loss_alone_needs_no_labels_of_pairs():
    _, outputs, features, _ = masked_lm_case()
    features = with_ids(features)
    expected = PretrainingLoss()(outputs, features)[1]["masked_lm_loss"]
    del features["next_sentence_labels"]
    loss = PretrainingLoss(next_sentence=False)
    joined = merge_labels(loss, {}, features, None)
    total, values = loss(outputs, joined)
    assert [*values] == ["masked_lm_loss"]
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12)
