"""Creates optimizers and their learning rate schedules (create_optimizer).

This file is named as in Google's code. The learning rate warms up linearly,
then decays linearly with the number of steps.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from training.config.training_config import OptimizerName, OptimizerOptions
from training.optimizers.adamw import AdamWeightDecayOptimizer, LAMBOptimizer

# LayerNorm's variables and all biases get no weight decay.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")
OPTIMIZERS: dict[OptimizerName, type[AdamWeightDecayOptimizer]] = {
    "adamw": AdamWeightDecayOptimizer,
    "lamb": LAMBOptimizer,
}


def create_optimizer(
    optimizer_options: OptimizerOptions,
    num_train_steps: int,
    num_warmup_steps: int,
) -> AdamWeightDecayOptimizer:
    """Returns an optimizer, by default as Google's create_optimizer does.

    Logs a warning if the warmup is longer than the training.

    Args:
        optimizer_options: AdamW or LAMB, the learning rate and its decay.
        num_train_steps: number of the step at which the learning rate is 0.
        num_warmup_steps: number of steps in which the learning rate rises to
            its value, 0 for no warmup.
    """
    if num_warmup_steps > num_train_steps:
        logging.warning(
            "The warmup of %d steps is longer than the training of %d steps, "
            "so the learning rate stays below its peak.",
            num_warmup_steps,
            num_train_steps,
        )
    schedule = WarmupLinearDecay(
        optimizer_options.learning_rate,
        num_train_steps,
        num_warmup_steps,
        is_continuous=optimizer_options.lr_schedule == "continuous",
    )
    return OPTIMIZERS[optimizer_options.optimizer](
        learning_rate=schedule,
        weight_decay_rate=optimizer_options.weight_decay,
        beta_1=optimizer_options.adam_beta_1,
        beta_2=optimizer_options.adam_beta_2,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        bias_correction=optimizer_options.bias_correction,
    )


@keras.saving.register_keras_serializable(package="bert")
@dataclasses.dataclass(eq=False)
class WarmupLinearDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warmup, then linear decay to 0 (create_optimizer).

    In Google's code, the decay begins at step 0. So after the warmup the rate
    drops below its peak, by the fraction `num_warmup_steps / num_train_steps`.

    Args:
        initial_learning_rate: peak of the rate, reached after the warmup.
        num_train_steps: step at which the rate is 0.
        num_warmup_steps: number of warmup steps, 0 for no warmup. As in
            Google's code, the warmup may be longer than the training. Then the
            rate stays below its peak.
        is_continuous: True to begin the decay at the end of the warmup, False
            to begin it at step 0.
    """

    initial_learning_rate: float
    num_train_steps: int
    num_warmup_steps: int = 0
    is_continuous: bool = False

    def __call__(self, step: tf.Tensor | int) -> tf.Tensor:
        """Returns the learning rate of the next update after `step` updates.

        The rate is float64, which is exact for any number of steps. The
        optimizer casts it to the type of the variables.
        """
        step = tf.cast(step, tf.float64)
        peak = tf.constant(self.initial_learning_rate, tf.float64)
        start = self.num_warmup_steps if self.is_continuous else 0
        done = (step - start) / max(self.num_train_steps - start, 1)
        decayed = peak * (1.0 - tf.clip_by_value(done, 0.0, 1.0))
        if not self.num_warmup_steps:
            return decayed
        warming_up = peak * step / self.num_warmup_steps
        return tf.where(step < self.num_warmup_steps, warming_up, decayed)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the same schedule."""
        return dataclasses.asdict(self)
