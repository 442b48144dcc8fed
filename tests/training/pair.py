"""A model of two numbers, and what trains it."""

import keras
import numpy as np
import tensorflow as tf

from training.optimizers import optimization
from training.options import LoopOptions, OptimizerOptions
from training.outputs import checkpointing
from training.steps import distribution, loop

BATCH_SIZE = 2


class Pair(keras.Model):
    """Multiplies each feature `factor` with a weight, of two it has."""

    def __init__(self):
        super().__init__()
        self.one = self.add_weight(shape=(), initializer="ones", name="one")
        self.zero = self.add_weight(shape=(), initializer="zeros", name="zero")

    def draw_seed(self, training):
        del training
        return tf.zeros([2], tf.int32)

    def call(self, features, training=None, seed=None):
        del training, seed
        return features["factor"] * self.one, self.zero * features["zero"]


class Sum:
    """Of the products; the root of a 0 has no finite gradient."""

    epsilon = {"part": 0.0}

    def weights(self, features):
        return {"part": tf.cast(tf.size(features["factor"]), tf.float32)}

    def sums(self, outputs, features):
        product, zero = outputs
        roots = tf.where(features["zero"] > 0, tf.sqrt(zero), 0.0)
        return {"part": tf.reduce_sum(product) + tf.reduce_sum(roots)}


def create_trainer(precision="float32", strategy=None, learning_rate=0.1):
    model = Pair()
    optimizer = optimization.create_optimizer(
        OptimizerOptions(learning_rate=learning_rate),
        100,
        0,
        aggregate_gradients=False,
    )
    return loop.Trainer(
        model, Sum(), distribution.scale_losses(optimizer, precision), strategy
    )


def checkpointer_of(trainer, folder, keep=0):
    return checkpointing.Checkpointer(
        folder,
        {v.name: v for v in trainer.model.trainable_variables},
        trainer.optimizer,
        keep_checkpoint_max=keep,
    )


def every(steps):
    return LoopOptions(save_checkpoints_steps=steps)


def batches(factors, zeros=None):
    """One batch for each factor, and more of factor 1."""
    factors = np.append(factors, np.ones(100)).astype(np.float32)
    zeros = np.zeros_like(factors) if zeros is None else zeros
    dataset = tf.data.Dataset.from_tensor_slices(
        {"factor": factors, "zero": zeros}
    )
    return dataset.map(
        lambda batch: {name: [x] * BATCH_SIZE for name, x in batch.items()}
    )
