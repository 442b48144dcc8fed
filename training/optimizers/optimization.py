"""The original's create_optimizer: an optimizer with its learning rates.

The file has the original's name. The learning rate warms up linearly, then
decays polynomially: by the steps, or by the time limit of training.
"""

import dataclasses
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from training.config import OptimizerConfig
from training.optimizers.adamw import AdamWeightDecayOptimizer, LAMBOptimizer

# LayerNorm's variables and all biases are not decayed.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")
OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    config: OptimizerConfig,
    num_train_steps: int,
    num_warmup_steps: int,
    num_hidden_layers: int = 0,
    time_spent: tf.Variable | None = None,
) -> AdamWeightDecayOptimizer:
    """Returns the optimizer of the original's create_optimizer.

    It takes gradients that are summed over all replicas already.

    Args:
        config: the optimizer's flags.
        num_train_steps: length of training.
        num_warmup_steps: length of the warmup, 0 for none.
        num_hidden_layers: blocks of the model, for --layerwise_lr_decay.
        time_spent: see WarmupTimeDecay, which the schedule "time" needs.
    """
    if num_warmup_steps > num_train_steps:
        logging.warning(
            "The warmup of %d steps is longer than the training of %d: "
            "the learning rate stays below its peak.",
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

    The heads keep 1, the top layer gets `decay`, the one below it its square,
    the embeddings `decay ** (num_hidden_layers + 1)`.
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

    initial_learning_rate: float
    num_train_steps: int
    num_warmup_steps: int = 0
    power: float = 1.0
    continuous: bool = False

    def __post_init__(self) -> None:
        """Checks the numbers of steps."""
        if self.num_train_steps < 1 or self.num_warmup_steps < 0:
            raise ValueError(
                "A schedule takes num_train_steps >= 1 and num_warmup_steps "
                f">= 0. Received: num_train_steps={self.num_train_steps}, "
                f"num_warmup_steps={self.num_warmup_steps}"
            )

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
        return dataclasses.asdict(self)


@keras.saving.register_keras_serializable(package="bert")
@dataclasses.dataclass(eq=False)
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

    initial_learning_rate: float
    num_warmup_steps: int = 0
    power: float = 1.0
    time_spent: tf.Variable | None = None

    def __post_init__(self) -> None:
        """Creates the variable of a schedule that Keras has loaded."""
        if self.time_spent is None:
            self.time_spent = tf.Variable(0.0, trainable=False, dtype="float64")

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
