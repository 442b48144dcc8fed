"""Creates an optimizer with its learning rate schedule (create_optimizer).

This file is named as in Google's code. The learning rate warms up
linearly, then decays polynomially, either with the steps or with the time
spent.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from training.config import OptimizerConfig
from training.optimizers.adamw import AdamWeightDecayOptimizer, LAMBOptimizer

# LayerNorm's variables and all biases get no weight decay.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")
OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    config: OptimizerConfig,
    num_train_steps: int,
    num_warmup_steps: int,
    num_hidden_layers: int = 0,
    time_spent: tf.Variable | None = None,
) -> AdamWeightDecayOptimizer:
    """Returns an optimizer, by default as Google's create_optimizer does.

    The caller must sum the gradients over all replicas.

    Args:
        config: flags of the optimizer.
        num_train_steps: number of training steps.
        num_warmup_steps: number of warmup steps, 0 for no warmup.
        num_hidden_layers: number of blocks, for --layerwise_lr_decay.
        time_spent: variable with the fraction of the time spent, for
            --lr_schedule=time. None for other schedules.
    """
    if num_warmup_steps > num_train_steps:
        logging.warning(
            "The warmup of %d steps is longer than the training of %d steps, "
            "so the learning rate stays below its peak.",
            num_warmup_steps,
            num_train_steps,
        )
    schedule: keras.optimizers.schedules.LearningRateSchedule
    peak, power = config.learning_rate, config.poly_power
    if config.lr_schedule == "time":
        schedule = WarmupTimeDecay(peak, num_warmup_steps, power, time_spent)
    else:
        schedule = WarmupPolynomialDecay(
            peak,
            num_train_steps,
            num_warmup_steps,
            power,
            continuous=config.lr_schedule == "continuous",
        )
    # LAMB always corrects the bias.
    corrects = config.bias_correction or config.optimizer == "lamb"
    return OPTIMIZERS[config.optimizer](
        learning_rate=schedule,
        weight_decay_rate=config.weight_decay,
        beta_1=config.adam_beta_1,
        beta_2=config.adam_beta_2,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        learning_rate_factors=layerwise_factors(
            num_hidden_layers, config.layerwise_lr_decay
        ),
        bias_correction=corrects,
        aggregate_gradients=False,
    )


def layerwise_factors(num_hidden_layers: int, decay: float) -> list[list[Any]]:
    """Returns learning rate factors that shrink towards the embeddings.

    The factor is 1 for the heads, `decay` for the top layer, `decay ** 2` for
    the layer below it, and `decay ** (num_hidden_layers + 1)` for the
    embeddings. The result lists pairs [regular expression, factor], in which
    the expression matches paths of variables.
    """
    if not 0.0 < decay <= 1.0:
        raise ValueError(
            f"--layerwise_lr_decay={decay} must be above 0 and at most 1"
        )
    layers = [
        [rf"/layer_{index}/", decay ** (num_hidden_layers - index)]
        for index in range(num_hidden_layers)
    ]
    return [*layers, [r"/embeddings/", decay ** (num_hidden_layers + 1)]]


@keras.saving.register_keras_serializable(package="bert")
@dataclasses.dataclass(eq=False)
class WarmupPolynomialDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warmup, then polynomial decay to 0 (create_optimizer).

    In Google's code, the decay begins at step 0. So after the warmup the rate
    drops below its peak, with linear decay by the fraction `num_warmup_steps /
    num_train_steps`.

    Args:
        initial_learning_rate: peak of the rate, reached after the warmup.
        num_train_steps: step at which the rate is 0.
        num_warmup_steps: number of warmup steps, 0 for no warmup. As in
            Google's code, the warmup may be longer than the training. Then the
            rate stays below its peak.
        power: exponent of the decay. 1 is linear.
        continuous: True to begin the decay at the end of the warmup, False to
            begin it at step 0.
    """

    initial_learning_rate: float
    num_train_steps: int
    num_warmup_steps: int = 0
    power: float = 1.0
    continuous: bool = False

    def __call__(self, step: tf.Tensor | int) -> tf.Tensor:
        """Returns the learning rate of the update after `step` updates.

        The rate is float64, which is exact for any number of steps. The
        optimizer casts it to the type of the variables.
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
        """Returns the arguments of the constructor."""
        return dataclasses.asdict(self)


@keras.saving.register_keras_serializable(package="bert")
@dataclasses.dataclass(eq=False)
class WarmupTimeDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warmup in steps, and polynomial decay to 0 in time.

    After `step` steps and a fraction `spent` of the time, the rate is

        peak * min(step / num_warmup_steps, 1) * (1 - spent) ** power

    Args:
        initial_learning_rate: peak of the rate.
        num_warmup_steps: number of warmup steps, 0 for no warmup.
        power: exponent of the decay. 1 is linear.
        time_spent: float variable with the fraction of the time spent. Training
            sets the variable before each step.
    """

    initial_learning_rate: float
    num_warmup_steps: int = 0
    power: float = 1.0
    time_spent: tf.Variable | None = None

    def __post_init__(self) -> None:
        """Creates `time_spent` if it is missing, as in a loaded schedule."""
        if self.time_spent is None:
            self.time_spent = tf.Variable(0.0, trainable=False, dtype="float64")

    def __call__(self, step: tf.Tensor | int) -> tf.Tensor:
        """Returns the learning rate of the update after `step` updates."""
        left = 1.0 - tf.clip_by_value(self.time_spent, 0.0, 1.0)
        rate = self.initial_learning_rate * left**self.power
        if not self.num_warmup_steps:
            return rate
        warmed_up = tf.cast(step, rate.dtype) / self.num_warmup_steps
        return rate * tf.minimum(warmed_up, 1.0)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor, except `time_spent`."""
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "num_warmup_steps": self.num_warmup_steps,
            "power": self.power,
        }
