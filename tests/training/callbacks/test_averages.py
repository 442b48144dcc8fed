"""Averages of weights against their formula in NumPy."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from training.optimizers import averaging, optimization
from training.options import OptimizerOptions
from training.steps import distribution, loop, train_step


class Scale(keras.Model):
    """Multiplies a feature with a weight."""

    def __init__(self):
        super().__init__()
        self.one = self.add_weight(shape=(2,), initializer="ones", name="one")

    def draw_seed(self, training):
        del training
        return tf.zeros([2], tf.int32)

    def call(self, features, training=None, seed=None):
        del training, seed
        return features["factor"][:, None] * self.one


class Sum:
    epsilon = {"part": 0.0}

    def weights(self, features):
        return {"part": tf.cast(tf.size(features["factor"]), tf.float32)}

    def sums(self, outputs, features):
        return {"part": tf.reduce_sum(outputs)}


@pytest.mark.parametrize("name", ["one_device", "mirrored"])
def test_averages_follow_their_formula(name):
    strategy = distribution.create_strategy(name)
    with strategy.scope():
        model = Scale()
        optimizer = optimization.create_optimizer(
            OptimizerOptions(learning_rate=0.1),
            100,
            0,
            aggregate_gradients=False,
        )
    weight = model.one
    averages = averaging.WeightAverages({"one": weight}, 0.6, strategy)
    weight.assign([3.0, 4.0])
    averages.start()
    options = train_step.StepOptions(averages=averages)
    trainer = loop.Trainer(model, Sum(), optimizer, strategy, options)
    # The fourth step is skipped, and averages nothing.
    factors = np.array([1, 2, 3, np.nan, -1, 2, 0.5, 1, 1, 1], np.float32)
    dataset = tf.data.Dataset.from_tensor_slices({"factor": factors}).batch(1)
    found = []

    def look(step, logs):
        found.append((weight.numpy(), averages.evaluated["one"].numpy()))

    trainer.train(dataset, 10, 1, hooks=[look])
    expected = np.array([3.0, 4.0])
    for step, (trained, average) in enumerate(found, start=1):
        decay = 1.0 if step == 4 else min(0.6, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * trained
        np.testing.assert_allclose(average, expected, rtol=1e-6)
    assert averages.saved.keys() == {"one/ExponentialMovingAverage"}
    trained, average = found[-1]
    with averages.applied():
        np.testing.assert_array_equal(weight.numpy(), average)
    np.testing.assert_array_equal(weight.numpy(), trained)
    averages.apply()
    np.testing.assert_array_equal(weight.numpy(), average)
