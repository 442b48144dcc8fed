"""Learning rate schedules: linear warmup, then polynomial decay.

The decay follows the steps, or the time limit of training.
"""

from typing import Any

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="bert")
class WarmupPolynomialDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warmup, then polynomial decay to 0 (create_optimizer).

    The original decays from step 0, so after the warmup the rate drops by
    `num_warmup_steps / num_train_steps` of its peak. `continuous=True` decays
    from the end of the warmup instead.

    Args:
        initial_learning_rate: the peak, reached at the end of the warmup.
        num_train_steps: the step at which the rate is 0.
        num_warmup_steps: steps of warmup, 0 for none. As in the original
            it may be longer than the training, which then ends below the peak.
        power: exponent of the decay; 1 is linear.
        continuous: False for the original's jump.
    """

    def __init__(
        self,
        initial_learning_rate: float,
        num_train_steps: int,
        num_warmup_steps: int = 0,
        power: float = 1.0,
        continuous: bool = False,
    ) -> None:
        if num_train_steps < 1 or num_warmup_steps < 0:
            raise ValueError(
                "A schedule takes num_train_steps >= 1 and num_warmup_steps "
                f">= 0. Received: {num_train_steps=}, {num_warmup_steps=}"
            )
        self.initial_learning_rate = initial_learning_rate
        self.num_train_steps = num_train_steps
        self.num_warmup_steps = num_warmup_steps
        self.power = power
        self.continuous = continuous

    def __call__(self, step: tf.Tensor | int) -> tf.Tensor:
        """Returns the learning rate of the update after `step` others.

        In float64, which float64 models need and which is exact for any number
        of steps; the optimizer casts it to the variables' type.
        """
        step = tf.cast(step, tf.float64)
        peak = tf.constant(self.initial_learning_rate, tf.float64)
        start = self.num_warmup_steps if self.continuous else 0
        length = max(self.num_train_steps - start, 1)
        done = tf.clip_by_value((step - start) / length, 0.0, 1.0)
        decayed = peak * (1.0 - done) ** self.power
        if not self.num_warmup_steps:
            return decayed
        warming_up = peak * step / self.num_warmup_steps
        return tf.where(step < self.num_warmup_steps, warming_up, decayed)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments this schedule was made with."""
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "num_train_steps": self.num_train_steps,
            "num_warmup_steps": self.num_warmup_steps,
            "power": self.power,
            "continuous": self.continuous,
        }


@keras.saving.register_keras_serializable(package="bert")
class WarmupTimeDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warmup in steps, and polynomial decay to 0 in time.

    After `step` steps and a fraction `spent` of the time, the rate is

        peak * min(step / num_warmup_steps, 1) * (1 - spent) ** power

    Args:
        initial_learning_rate: the peak.
        num_warmup_steps: steps of warmup, 0 for none.
        power: exponent of the decay; 1 is linear.
        time_spent: float variable, the fraction of the time spent; training
            sets it before each step.
    """

    def __init__(
        self,
        initial_learning_rate: float,
        num_warmup_steps: int = 0,
        power: float = 1.0,
        time_spent: tf.Variable | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.num_warmup_steps = num_warmup_steps
        self.power = power
        if time_spent is None:
            time_spent = tf.Variable(0.0, trainable=False, dtype=tf.float64)
        self.time_spent = time_spent

    def __call__(self, step: tf.Tensor | int) -> tf.Tensor:
        """Returns the learning rate of the update after `step` others."""
        left = 1.0 - tf.clip_by_value(self.time_spent, 0.0, 1.0)
        rate = self.initial_learning_rate * left**self.power
        if not self.num_warmup_steps:
            return rate
        warmed_up = tf.cast(step, rate.dtype) / self.num_warmup_steps
        return rate * tf.minimum(warmed_up, 1.0)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments this schedule was made with."""
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "num_warmup_steps": self.num_warmup_steps,
            "power": self.power,
        }
