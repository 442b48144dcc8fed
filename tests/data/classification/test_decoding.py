"""Predictions in files, and thresholds and temperatures fitted to a dev set."""

import json

import numpy as np
import pytest
import sklearn.metrics
from scipy import special

from data.classification import decoding
from data.classification.decoding import LabelDecoder

CLASSES = LabelDecoder("classification", ["no", "yes"])
REGRESSION = LabelDecoder("regression", None)


def write(folder, entries, outputs, decoder=CLASSES):
    return decoding.write_predictions(
        folder, entries, [({}, np.array(outputs, np.float32))], decoder
    )


def test_half_of_a_surrogate_pair_in_a_text(tmp_path):
    entries = [{"text_a": "a\ud800\u4e2d"}]
    assert write(tmp_path, entries, [[0, 1]]) == ["yes"]
    line = json.loads((tmp_path / "predictions.jsonl").read_bytes())
    assert line["text_a"] == "a\ud800\u4e2d"


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("decoder", [CLASSES, REGRESSION])
def test_outputs_that_are_not_finite_leave_no_file(tmp_path, decoder, value):
    outputs = [[0.0] * decoder.num_outputs, [value] * decoder.num_outputs]
    with pytest.raises(ValueError, match=r"predictions\.jsonl, line 2 would"):
        write(tmp_path, [{"guid": 0}, {"guid": 1}], outputs, decoder)
    assert not list(tmp_path.iterdir())


def test_thresholds_have_the_best_f1():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (60, 3))
    chances = np.round(rng.random((60, 3)) * 0.4 + 0.3 * truth, 2)
    decoder = LabelDecoder("multilabel", ["a", "b", "c"])
    logits = special.logit(np.maximum(chances, 1e-6))
    decoder.fit_thresholds(truth, logits)
    for column, limit in zip(
        range(3), decoder.thresholds.values(), strict=True
    ):
        scores = [
            sklearn.metrics.f1_score(truth[:, column], chances[:, column] > x)
            for x in (limit, *np.arange(0.005, 0.7, 0.01))
        ]
        assert scores[0] == pytest.approx(max(scores))
    decoder.fit_thresholds(0 * truth, logits)
    assert decoder.thresholds == {"a": 0.5, "b": 0.5, "c": 0.5}


@pytest.mark.parametrize("mode", ["classification", "multilabel"])
def test_a_temperature_that_was_put_in_is_found(mode):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20_000, 3))
    if mode == "multilabel":
        labels = (rng.random(logits.shape) < special.expit(logits)).astype(int)
    else:
        chances = special.softmax(logits, axis=-1)
        labels = (rng.random((20_000, 1)) > chances.cumsum(-1)).sum(-1)
    decoder = LabelDecoder(mode, ["a", "b", "c"])
    before, _ = decoder.calibration(labels, 4 * logits)
    decoder.fit_temperature(labels, 4 * logits)
    assert decoder.temperature == pytest.approx(4, rel=0.05)
    after, _ = decoder.calibration(labels, 4 * logits)
    assert before > 0.1 and after < 0.02
