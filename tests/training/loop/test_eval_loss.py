"""The loss of an evaluation, by hand."""

import pytest

from modeling.base_loss import BatchLoss
from training.loop import eval_loss


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
    batches_with_loss = eval_loss.EvalLoss(TwoParts(), batches)
    assert list(batches_with_loss) == batches
    assert batches_with_loss.scores() == pytest.approx(
        {"eval_loss": 8 / 5 + 4 / 4}
    )


def test_a_loss_of_a_part_of_the_batches_is_an_error():
    part = {"word": 1.0}
    batches_with_loss = eval_loss.EvalLoss(TwoParts(), [(part, part)] * 2)
    next(iter(batches_with_loss))
    with pytest.raises(ValueError, match="must read all batches"):
        batches_with_loss.scores()
