"""The loss of an evaluation, by hand, and how often its graph is traced."""

import numpy as np
import pytest

from modeling.base_loss import BatchLoss
from tests.support.two_weight_model import batches, create_trainer
from training.loop import prediction


class TwoParts(BatchLoss):
    """A loss whose sums are the outputs, and whose divisors the features."""

    def sums(self, outputs, features):
        return outputs

    def divisors(self, features):
        return features


def test_the_figures_of_a_loss_are_the_sum_of_its_parts():
    sums = [{"word": 6.0, "end": 1.0}, {"word": 2.0, "end": 3.0}]
    weights = [{"word": 4.0, "end": 2.0}, {"word": 1.0, "end": 2.0}]
    batches = list(zip(weights, sums, strict=True))
    batches_with_loss = prediction.EvalLoss(TwoParts(), batches)
    assert list(batches_with_loss) == batches
    assert batches_with_loss.scores() == pytest.approx(
        {"eval_loss": 8 / 5 + 4 / 4}
    )


def test_a_loss_of_a_part_of_the_batches_is_an_error():
    part = {"word": 1.0}
    batches_with_loss = prediction.EvalLoss(TwoParts(), [(part, part)] * 2)
    next(iter(batches_with_loss))
    with pytest.raises(ValueError, match="must read all batches"):
        batches_with_loss.scores()


def test_a_metric_traces_the_network_once(tmp_path):
    traced = []

    def first_output(outputs, features):
        traced.append(features)
        return outputs[0]

    trainer = create_trainer(tmp_path)
    results = []
    for weight in (1.0, 2.0, 4.0):
        trainer.model.one.assign(weight)
        (result,) = trainer.predictor.predict(
            batches([3.0])[:1], metrics=first_output
        )
        results.append(result[1])
    assert len(traced) == 1
    np.testing.assert_array_equal(
        results, [[3.0, 3.0], [6.0, 6.0], [12.0, 12.0]]
    )


def test_outputs_of_nan_are_reported_once(tmp_path, caplog):
    trainer = create_trainer(tmp_path)
    dataset = batches([1, np.nan, 1, np.nan])[:5]
    assert len(list(trainer.predictor.predict(dataset))) == 5
    logged = [r.message for r in caplog.records if "NaN" in r.message]
    assert len(logged) == 1
    assert "from batch 2 on" in logged[0]
