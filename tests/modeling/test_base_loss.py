"""How a loss weights, sums and averages the values of its terms.

tests/modeling/test_losses.py compares each loss with its formula.
"""

import numpy as np
import pytest

from modeling import base_loss
from modeling.losses import ClassifierLoss, TokenLoss

IDS = np.zeros((2, 3), "int32")


class ConstantLoss(base_loss.Loss):
    """A loss whose outputs are the values of its only term."""

    def unreduced_terms(self, outputs, features):
        return {"loss": outputs}


def as_floats(terms):
    return {name: float(value) for name, value in terms.items()}


def test_a_mean_is_a_sum_by_the_sum_of_the_weights():
    loss = ConstantLoss()
    outputs = np.array([1.0, 4.0])
    features = {"input_ids": IDS, "example_weights": np.array([1.0, 0.5])}
    sums, divisors = loss.sums(outputs, features), loss.divisors(features)
    assert as_floats(sums) == {"loss": 3.0}
    assert as_floats(divisors) == {"loss": 1.5}
    assert as_floats(loss.means(sums, divisors)) == {"loss": 2.0}
    total, means = loss(outputs, features)
    assert (float(total), as_floats(means)) == (2.0, {"loss": 2.0})


def test_an_epsilon_keeps_a_mean_without_weights_finite():
    zero = {"loss": np.float64(0.0)}
    assert as_floats(TokenLoss().means(zero, zero)) == {"loss": 0.0}
    one = {"loss": np.float64(1.0)}
    assert as_floats(TokenLoss().means(one, one)) == {"loss": 1 / (1 + 1e-5)}


def test_all_examples_count_the_same_by_default():
    weights = base_loss.weigh_examples({"input_ids": IDS})
    assert np.asarray(weights).tolist() == [1.0, 1.0]


def test_the_weights_of_examples_that_pad_a_batch_are_zero():
    weights = base_loss.weigh_examples(
        {
            "input_ids": IDS,
            "is_real_example": np.array([1, 0], "int32"),
            "example_weights": np.array([[0.5], [3.0]], "float32"),
        }
    )
    assert np.asarray(weights).tolist() == [0.5, 0.0]


def test_the_divergence_is_zero_for_the_same_classes_alone():
    logits = np.array([[1.0, 2.0], [0.0, 1.0]])
    teacher_logits = np.array([[2.0, 3.0], [1.0, 0.0]])
    same, other = np.asarray(
        base_loss.divergence(logits, teacher_logits, temperature=2.0)
    )
    assert abs(same) < 1e-12
    # 4 * sum(p * log(p / q)), where p and q are 1 / (1 + exp(-+1 / 2)).
    p = 1 / (1 + np.exp(-0.5))
    expected = 4 * (p * np.log(p / (1 - p)) + (1 - p) * np.log((1 - p) / p))
    assert other == pytest.approx(expected, abs=1e-12)


@pytest.mark.backends
def test_a_loss_of_a_task_names_the_loss_for_other_models():
    labels, logits = np.zeros(2, "int32"), np.zeros((2, 3), "float32")
    with pytest.raises(TypeError, match="SparseCategoricalCrossentropy"):
        ClassifierLoss()(labels, logits)


def test_a_loss_of_several_outputs_needs_divergences_of_its_own():
    outputs = {"start": IDS, "end": IDS}
    with pytest.raises(TypeError, match=r"ConstantLoss .*: start, end"):
        ConstantLoss().unreduced_divergences(outputs, outputs, 1.0)
