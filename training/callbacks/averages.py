"""Exponential moving averages of the weights (--ema_decay).

Where the weights of such a run are:

- `model.ckpt-N` has the trained weights under the original's names, so that
  training resumes from them, and next to each its average, as
  `NAME/ExponentialMovingAverage`, which is TensorFlow 1's name for it.
- `averages/` and `best/` have the averages under the original's names: each is
  a checkpoint to start another task from.
- Evaluations, predictions and exports use the averages.
"""

import contextlib
from collections.abc import Iterator, Mapping

import keras
import tensorflow as tf

SUFFIX = "/ExponentialMovingAverage"


class WeightAverages:
    """The averages of a model's trained weights.

    After step n they are

        average = d * average + (1 - d) * weight
        d = min(decay, (1 + n) / (10 + n))

    so that a short run does not average mostly its first weights. Skipped steps
    do not change them.

    Args:
        variables: {original name: variable} of the model.
        decay: see above.
        strategy: the variables' strategy.

    Attributes:
        evaluated: {original name: average}, used by evaluations.
        saved: {name in a checkpoint: average}.
    """

    def __init__(
        self,
        variables: Mapping[str, keras.Variable],
        decay: float,
        strategy: tf.distribute.Strategy,
    ) -> None:
        self._decay, self._strategy = decay, strategy
        self._weights = {
            name: variable
            for name, variable in variables.items()
            if variable.trainable
        }
        with strategy.scope():
            self.evaluated = {
                name: keras.Variable(
                    "zeros", weight.shape, weight.dtype, trainable=False
                )
                for name, weight in self._weights.items()
            }
        self.saved = {
            name + SUFFIX: average for name, average in self.evaluated.items()
        }

    def start(self) -> None:
        """Starts from the model's current weights."""
        for name, average in self.evaluated.items():
            average.assign(self._weights[name].value)

    def update(self, step: tf.Tensor, made: tf.Tensor) -> None:
        """Moves the averages towards the weights.

        Called outside of the replicas.

        Args:
            step: number of the step that was made, from 1.
            made: bool [], whether the step changed them.
        """
        step = tf.cast(step, tf.float64)
        decay = tf.minimum(
            tf.constant(self._decay, tf.float64), (1 + step) / (10 + step)
        )
        decay = tf.where(made, decay, 1.0)
        for name, average in self.evaluated.items():
            self._strategy.extended.update(
                average.value,
                _move,
                (self._weights[name].value, tf.cast(decay, average.dtype)),
            )

    def apply(self) -> None:
        """Replaces the weights by their averages, at the end of training."""
        for name, average in self.evaluated.items():
            self._weights[name].assign(average.value)

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Runs the block with the averages as the model's weights."""
        kept = [weight.numpy() for weight in self._weights.values()]
        self.apply()
        try:
            yield
        finally:
            for weight, value in zip(self._weights.values(), kept, strict=True):
                weight.assign(value)


def _move(average: tf.Variable, weight: tf.Tensor, decay: tf.Tensor) -> None:
    average.assign(decay * average + (1 - decay) * weight)
