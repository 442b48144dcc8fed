"""Steps on a model of two weights.

test_train_step_golden.py compares steps of BERT with Google's.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.support.two_weight_model import TwoWeightModel, create_loop_trainer
from training.loop.step_gradients import Outcome


@pytest.fixture
def model():
    """The model that the steps train."""
    return TwoWeightModel()


@pytest.fixture
def train_step(model, tmp_path):
    """The step of a training whose learning rate is 0.1 at first."""
    return create_loop_trainer(tmp_path, model=model).train_step


def batches_of(*factors):
    """Returns an iterator over one batch for each factor."""
    rows = {
        "factor": tf.constant([[factor] for factor in factors], tf.float32),
        "zero": tf.zeros([len(factors), 1]),
    }
    return iter(tf.data.Dataset.from_tensor_slices(rows))


def test_a_step_returns_its_loss_and_updates_the_weights(train_step, model):
    result = train_step(batches_of(2.0))
    # The loss is factor * 1, before the update.
    assert result.logs["loss"] == pytest.approx(2.0)
    assert result.outcomes.tolist() == [Outcome.APPLIED]
    # The first update of AdamW, with any gradient g: its m is 0.1 g, the root
    # of its v is sqrt(0.001) g, and the decay of the weight is 0.01.
    direction = 0.1 / np.sqrt(0.001) + 0.01
    assert float(model.one) == pytest.approx(1 - 0.1 * direction, rel=1e-4)


def test_several_steps_in_one_call_read_one_batch_each(train_step):
    batches = batches_of(1.0, 2.0, 3.0, 4.0)
    result = train_step(batches, 3)
    assert result.outcomes.tolist() == [Outcome.APPLIED] * 3
    assert float(next(batches)["factor"][0]) == 4


def test_a_step_with_a_loss_of_nan_keeps_the_weights(train_step, model):
    result = train_step(batches_of(np.nan))
    assert result.outcomes.tolist() == [Outcome.NOT_FINITE]
    assert float(model.one) == 1
