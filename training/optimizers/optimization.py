"""The original's create_optimizer: an optimizer with its learning rates.

The file has the original's name.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from training.config import OptimizerConfig
from training.optimizers.adamw import AdamWeightDecayOptimizer
from training.optimizers.lamb import LAMBOptimizer
from training.optimizers.schedules import WarmupPolynomialDecay, WarmupTimeDecay

# LayerNorm's variables and all biases are not decayed.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")
OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    options: OptimizerConfig,
    num_train_steps: int,
    num_warmup_steps: int,
    learning_rate_factors: Iterable[Sequence[Any]] | None = None,
    aggregate_gradients: bool = True,
    time_spent: tf.Variable | None = None,
) -> AdamWeightDecayOptimizer:
    """Returns the optimizer of the original's create_optimizer.

    Args:
        options: OptimizerConfig.
        num_train_steps: length of training.
        num_warmup_steps: length of the warmup, 0 for none.
        learning_rate_factors: see AdamWeightDecayOptimizer.
        aggregate_gradients: see AdamWeightDecayOptimizer.
        time_spent: of the schedule "time", see schedules.WarmupTimeDecay.
    """
    if num_warmup_steps > num_train_steps:
        logging.warning(
            "The warmup of %d steps is longer than the training of %d: "
            "the learning rate stays below its peak.",
            num_warmup_steps,
            num_train_steps,
        )
    schedule: keras.optimizers.schedules.LearningRateSchedule
    if options.lr_schedule == "time":
        schedule = WarmupTimeDecay(
            options.learning_rate,
            num_warmup_steps,
            options.poly_power,
            time_spent,
        )
    else:
        schedule = WarmupPolynomialDecay(
            options.learning_rate,
            num_train_steps,
            num_warmup_steps,
            power=options.poly_power,
            continuous=options.lr_schedule == "continuous",
        )
    return OPTIMIZERS[options.optimizer](
        learning_rate=schedule,
        weight_decay_rate=options.weight_decay,
        beta_1=options.adam_beta_1,
        beta_2=options.adam_beta_2,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        learning_rate_factors=learning_rate_factors,
        aggregate_gradients=aggregate_gradients,
    )


def layerwise_factors(num_hidden_layers: int, decay: float) -> list[list[Any]]:
    """Returns learning rate factors that shrink towards the embeddings.

    The heads keep 1, the top layer gets `decay`, the one below it its square,
    the embeddings `decay ** (num_hidden_layers + 1)`.
    """
    if not 0.0 < decay <= 1.0:
        raise ValueError(
            f"A layer-wise decay lies in (0, 1]. Received: {decay}"
        )
    layers = [
        [rf"/layer_{index}/", math.pow(decay, num_hidden_layers - index)]
        for index in range(num_hidden_layers)
    ]
    embeddings = math.pow(decay, num_hidden_layers + 1)
    return [*layers, [r"/embeddings/", embeddings]]
