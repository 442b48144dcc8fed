"""The gradients of a batch do not depend on how it is computed."""

import keras
import pytest
import tensorflow as tf

from tests.support.two_weight_model import SumLoss, TwoWeightModel
from training.loop.replica_gradients import GradientComputer, ReplicaGradients
from training.optimizers import adamw

SEED = tf.constant([7, 9])
FEATURES = {
    "factor": tf.constant([1.0, 2.0, 4.0, 8.0]),
    "zero": tf.zeros([4]),
}


def compute_gradients(num_micro_batches, scale=None):
    """Returns the gradients of FEATURES, with a loss scale for float16."""
    model, loss = TwoWeightModel(), SumLoss()
    optimizer = adamw.AdamWeightDecayOptimizer()
    if scale is not None:
        optimizer = keras.optimizers.LossScaleOptimizer(
            optimizer, initial_scale=scale
        )
        optimizer.build(model.trainable_variables)
    gradients = GradientComputer(
        model,
        loss,
        optimizer,
        num_micro_batches=num_micro_batches,
        num_replicas=1,
    )
    run = tf.function(gradients.compute, autograph=False)
    return run(FEATURES, loss.divisors(FEATURES), SEED)


@pytest.mark.parametrize("num_micro_batches", [1, 2, 4])
def test_micro_batches_add_up_to_the_batch(num_micro_batches):
    gradients = compute_gradients(num_micro_batches)
    # The loss is the mean of the factors, times the weight `one`.
    assert float(gradients.losses["loss"]) == 15 / 4
    assert float(gradients.dense[0]) == 15 / 4


@pytest.mark.parametrize("num_micro_batches", [1, 2])
def test_the_loss_scale_multiplies_the_gradients_only(num_micro_batches):
    gradients = compute_gradients(num_micro_batches, scale=8.0)
    assert float(gradients.losses["loss"]) == 15 / 4
    assert float(gradients.dense[0]) == 8 * 15 / 4


def test_the_norm_is_of_all_gradients_together():
    dense = {0: tf.constant([3.0, 0.0]), 1: tf.constant([[4.0], [12.0]])}
    assert float(ReplicaGradients(dense, {}, {}).global_norm()) == 13.0


def test_slices_of_one_row_are_squared_each_for_itself():
    """As in Google's code: two slices of 3 and 4 count 5, not 7."""
    gradients = ReplicaGradients(
        dense={0: tf.constant([7.0])},
        squares={0: tf.constant(3.0**2 + 4.0**2)},
        losses={},
    )
    assert float(gradients.global_norm()) == 5.0
