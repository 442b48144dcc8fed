"""Computes exponential moving averages of the weights (--ema_decay).

A run with averages writes these weights:

- `model.ckpt-N` contains the trained weights under the variable names of
  Google's code, so that training can resume. It also contains the average of
  each weight as `NAME/ExponentialMovingAverage`, the name that TensorFlow 1
  uses.
- `averages/` and `best/` contain the averages under the variable names of
  Google's code. Another task can start from the checkpoint in either folder.
- Evaluations, predictions and exports use the averages.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf

import modeling
from modeling.checkpoints import tf1
from training.callbacks import Callback


class WeightAverages(Callback):
    """Updates, saves and applies the averages of a model's trainable weights.

    Step n updates each average to

        average = d * average + (1 - d) * weight
        d = min(--ema_decay, (1 + n) / (10 + n))

    In the first steps d is smaller, so that the initial weights do not dominate
    the averages of a short run. A skipped step does not change the averages.
    """

    def wrap(self, model: Any, loss: Any) -> tuple[Any, Any]:
        """Creates an average for each trainable weight."""
        named = modeling.named_variables(self.trainer.model)
        self._weights = {n: v for n, v in named.items() if v.trainable}
        self._averages = {
            name: keras.Variable(
                "zeros", weight.shape, weight.dtype, trainable=False
            )
            for name, weight in self._weights.items()
        }
        return model, loss

    def variables(self) -> dict[str, keras.Variable]:
        """Returns {name in a checkpoint: average}."""
        return {
            name + tf1.AVERAGE: average
            for name, average in self._averages.items()
        }

    def on_restore(self, step: int, is_new: bool) -> None:
        """Sets the averages of a new run to the model's weights."""
        if is_new:
            for name, average in self._averages.items():
                average.assign(self._weights[name].value)

    def after_update(self, step: tf.Tensor, is_made: tf.Tensor) -> None:
        """Updates the averages, unless the step was skipped."""
        step = tf.cast(step, tf.float64)
        most = tf.constant(self.trainer.config.ema_decay, tf.float64)
        decay = tf.minimum(most, (1 + step) / (10 + step))
        decay = tf.where(is_made, decay, 1.0)
        for name, average in self._averages.items():
            self.trainer.strategy.extended.update(
                average.value,
                lambda average, weight, decay: average.assign(
                    decay * average + (1 - decay) * weight
                ),
                (self._weights[name].value, tf.cast(decay, average.dtype)),
            )

    def on_trained(self) -> None:
        """Replaces the weights with their averages, and saves the averages."""
        self._apply()
        folder = self.trainer.run.averages
        self.trainer.save_weights(folder, self.trainer.global_step)

    def _apply(self) -> None:
        for name, average in self._averages.items():
            self._weights[name].assign(average.value)

    @contextlib.contextmanager
    def evaluating(self) -> Iterator[None]:
        """Sets the model's weights to their averages inside a `with` block."""
        weights = [weight.numpy() for weight in self._weights.values()]
        self._apply()
        try:
            yield
        finally:
            for weight, value in zip(
                self._weights.values(), weights, strict=True
            ):
                weight.assign(value)
