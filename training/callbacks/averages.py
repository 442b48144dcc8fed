"""Exponential moving averages of the weights (--ema_decay).

Where the weights of such a run are:

- `model.ckpt-N` has the trained weights under the original's names, so that
  training resumes from them, and beside each its average, as
  `NAME/ExponentialMovingAverage`, which is TensorFlow 1's name for it.
- `averages/` and `best/` have the averages under the original's names: each is
  a checkpoint to start another task from.
- Evaluations, predictions and exports use the averages.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

import modeling
from modeling.checkpoints import tf1
from training.callbacks import Callback

if TYPE_CHECKING:
    from training.trainer import Trainer

SUFFIX = tf1.AVERAGE


class WeightAverages(Callback):
    """The averages of a model's trained weights.

    After step n they are

        average = d * average + (1 - d) * weight
        d = min(--ema_decay, (1 + n) / (10 + n))

    so that a short run does not average mostly its first weights. Skipped steps
    do not change them.
    """

    def attach(self, trainer: "Trainer") -> None:
        """Creates the averages of the weights that are trained."""
        super().attach(trainer)
        self._weights = {
            name: variable
            for name, variable in modeling.named_variables(
                trainer.model
            ).items()
            if variable.trainable
        }
        with trainer.strategy.scope():
            self._averages = {
                name: keras.Variable(
                    "zeros", weight.shape, weight.dtype, trainable=False
                )
                for name, weight in self._weights.items()
            }

    def variables(self) -> dict[str, keras.Variable]:
        """Returns {name in a checkpoint: average}."""
        return {
            name + SUFFIX: average for name, average in self._averages.items()
        }

    def on_restore(self, step: int, is_new: bool) -> None:
        """Starts a new run's averages from the model's weights."""
        if is_new:
            for name, average in self._averages.items():
                average.assign(self._weights[name].value)

    def after_update(self, step: tf.Tensor, is_made: tf.Tensor) -> None:
        """Moves the averages towards the weights."""
        step = tf.cast(step, tf.float64)
        most = tf.constant(self.trainer.config.ema_decay, tf.float64)
        decay = tf.minimum(most, (1 + step) / (10 + step))
        decay = tf.where(is_made, decay, 1.0)
        for name, average in self._averages.items():
            self.trainer.strategy.extended.update(
                average.value,
                _move,
                (self._weights[name].value, tf.cast(decay, average.dtype)),
            )

    def on_trained(self) -> None:
        """Replaces the weights by their averages, and saves these."""
        self._apply()
        folder = self.trainer.config.averages_dir
        self.trainer.save_weights(folder, self.trainer.global_step)

    def _apply(self) -> None:
        for name, average in self._averages.items():
            self._weights[name].assign(average.value)

    @contextlib.contextmanager
    def evaluating(self) -> Iterator[None]:
        """Runs the block with the averages as the model's weights."""
        weights = [weight.numpy() for weight in self._weights.values()]
        self._apply()
        try:
            yield
        finally:
            for weight, value in zip(
                self._weights.values(), weights, strict=True
            ):
                weight.assign(value)


def _move(average: tf.Variable, weight: tf.Tensor, decay: tf.Tensor) -> None:
    average.assign(decay * average + (1 - decay) * weight)
