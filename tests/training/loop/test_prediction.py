"""The loss of an evaluation, against its formula worked out by hand."""

import pytest

from training.loop import prediction


class TwoParts:
    """The sums and weights of two parts, as they are in the features."""

    def sums(self, outputs, features):
        return outputs

    def weights(self, features):
        return features


def test_the_figures_of_a_loss_are_the_sum_of_its_parts():
    sums = [{"word": 6.0, "end": 1.0}, {"word": 2.0, "end": 3.0}]
    weights = [{"word": 4.0, "end": 2.0}, {"word": 1.0, "end": 2.0}]
    batches = list(zip(weights, sums, strict=True))
    batches_with_loss = prediction.LossFigures(TwoParts(), batches)
    assert list(batches_with_loss) == batches
    assert batches_with_loss.figures() == pytest.approx(
        {"eval_loss": 8 / 5 + 4 / 4}
    )
