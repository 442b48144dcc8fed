"""Thresholds and temperatures, against a search over all of them."""

import numpy as np
import pytest
import sklearn.metrics
from scipy import special

from data.classification import tuning
from data.classification.decoding import LabelDecoder


def test_thresholds_have_the_best_f1():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (60, 3))
    probabilities = np.round(rng.random((60, 3)) * 0.4 + 0.3 * truth, 2)
    found = tuning.find_thresholds("abc", truth, probabilities)
    for column, name in enumerate("abc"):

        def score(limit, column=column):
            guesses = probabilities[:, column] > limit
            return sklearn.metrics.f1_score(truth[:, column], guesses)

        best = max(map(score, np.linspace(0, 0.7, 701)))
        assert score(found[name]) == pytest.approx(best)
    none = tuning.find_thresholds("a", 0 * truth[:, :1], probabilities[:, :1])
    assert none == {"a": 0.5}


@pytest.mark.parametrize("mode", ["classification", "multilabel"])
def test_a_temperature_that_was_put_in_is_found(mode):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20_000, 3))
    if mode == "multilabel":
        labels = (rng.random(logits.shape) < special.expit(logits)).astype(int)
    else:
        chances = special.softmax(logits, axis=-1)
        labels = (rng.random((20_000, 1)) > chances.cumsum(-1)).sum(-1)
    found = tuning.fit_temperature(mode, labels, 4 * logits)
    assert found == pytest.approx(4, rel=0.05)
    decoder = LabelDecoder(mode, ["a", "b", "c"])
    errors = []
    for decoder.temperature in (1.0, found):
        pair = tuning.confidences(decoder, labels, 4 * logits)
        errors.append(tuning.calibration_error(*pair))
    assert errors[0] > 0.1 and errors[1] < 0.02
