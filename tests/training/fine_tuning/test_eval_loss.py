"""The loss of a dev set, from the sums and divisors of its batches."""

import pytest

from modeling.base_loss import BatchLoss
from training.fine_tuning.eval_loss import BatchesWithLoss


class TwoParts(BatchLoss):
    """A loss whose sums are the outputs, and whose divisors the features."""

    def sums(self, outputs, features):
        return outputs

    def divisors(self, features):
        return features


def test_the_loss_of_a_set_is_the_sum_of_the_means_of_its_parts():
    sums = [{"word": 6.0, "end": 1.0}, {"word": 2.0, "end": 3.0}]
    weights = [{"word": 4.0, "end": 2.0}, {"word": 1.0, "end": 2.0}]
    batches = list(zip(weights, sums, strict=True))
    batches_with_loss = BatchesWithLoss(TwoParts(), batches)
    assert list(batches_with_loss) == batches
    assert batches_with_loss.compute_scores() == pytest.approx(
        {"eval_loss": 8 / 5 + 4 / 4}
    )


def test_the_loss_counts_the_batches_that_a_task_leaves_unread():
    weights = {"word": 1.0}
    batches = [(weights, {"word": 2.0}), (weights, {"word": 4.0})]
    batches_with_loss = BatchesWithLoss(TwoParts(), batches)
    next(iter(batches_with_loss))
    assert batches_with_loss.compute_scores() == {"eval_loss": 3.0}
