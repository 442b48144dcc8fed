"""Probabilities of logits, and logarithms of probabilities."""

import numpy as np
import pytest

from data.probabilities import to_log_probabilities, to_probabilities


@pytest.mark.parametrize(
    ("output_mode", "probabilities"),
    [
        ("classification", [0.25, 0.75]),
        ("multilabel", [0.5, 0.75]),
        ("regression", [0.0, np.log(3)]),
    ],
)
def test_logits_become_probabilities(output_mode, probabilities):
    logits = np.array([[0.0, np.log(3)]])
    (row,) = to_probabilities(logits, output_mode)
    assert row == pytest.approx(probabilities)


def test_large_logits_do_not_overflow():
    logits = np.array([[1000.0, -1000.0]], np.float32)
    for output_mode in ("classification", "multilabel"):
        assert to_probabilities(logits, output_mode).tolist() == [[1.0, 0.0]]


def test_the_logarithm_of_zero_is_finite():
    logarithms = to_log_probabilities(np.array([0.0, 1.0], np.float32))
    assert np.isfinite(logarithms).all()
    assert logarithms[0] < -80
    assert logarithms[1] == 0
