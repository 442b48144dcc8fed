"""The original's create_optimizer: an optimizer with its learning rates."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from training.adamw import AdamWeightDecayOptimizer
from training.lamb import LAMBOptimizer
from training.options import TrainingOptions
from training.schedules import WarmupPolynomialDecay, WarmupTimeDecay

# LayerNorm's variables and every bias are not decayed.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")
OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    init_lr: float,
    num_train_steps: int,
    num_warmup_steps: int,
    optimizer: str = "adamw",
    lr_schedule: str = "original",
    poly_power: float = 1.0,
    learning_rate_factors: Iterable[Sequence[Any]] | None = None,
    aggregate_gradients: bool = True,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    weight_decay: float = 0.01,
    time_spent: tf.Variable | None = None,
) -> AdamWeightDecayOptimizer:
    """Returns the optimizer of the original's create_optimizer.

    Args:
        init_lr: peak learning rate.
        num_train_steps: length of training.
        num_warmup_steps: length of the warmup, 0 for none.
        optimizer: "adamw" (the original's) or "lamb".
        lr_schedule: "original" (with its jump), "continuous" or "time".
        poly_power: exponent of the decay.
        learning_rate_factors: see AdamWeightDecayOptimizer.
        aggregate_gradients: see AdamWeightDecayOptimizer.
        beta_1: see AdamWeightDecayOptimizer.
        beta_2: see AdamWeightDecayOptimizer.
        weight_decay: its `weight_decay_rate`.
        time_spent: of the schedule "time", see schedules.WarmupTimeDecay.
    """
    schedule: keras.optimizers.schedules.LearningRateSchedule
    if lr_schedule == "time":
        schedule = WarmupTimeDecay(
            init_lr, num_warmup_steps, poly_power, time_spent
        )
    else:
        schedule = WarmupPolynomialDecay(
            init_lr,
            num_train_steps,
            num_warmup_steps,
            power=poly_power,
            continuous=lr_schedule == "continuous",
        )
    return OPTIMIZERS[optimizer](
        learning_rate=schedule,
        weight_decay_rate=weight_decay,
        beta_1=beta_1,
        beta_2=beta_2,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        learning_rate_factors=learning_rate_factors,
        aggregate_gradients=aggregate_gradients,
    )


def optimizer_of(
    options: TrainingOptions,
    num_hidden_layers: int,
    num_train_steps: int,
    num_warmup_steps: int,
    time_spent: tf.Variable | None = None,
) -> AdamWeightDecayOptimizer:
    """Returns the optimizer that the options ask for; see create_optimizer."""
    if num_warmup_steps > num_train_steps:
        logging.warning(
            "The warmup of %d steps is longer than the training of %d: "
            "the learning rate stays below its peak.",
            num_warmup_steps,
            num_train_steps,
        )
    factors = None
    if options.layerwise_lr_decay != 1.0:
        factors = layerwise_factors(
            num_hidden_layers, options.layerwise_lr_decay
        )
    return create_optimizer(
        options.learning_rate,
        num_train_steps,
        num_warmup_steps,
        optimizer=options.optimizer,
        lr_schedule=options.lr_schedule,
        poly_power=options.poly_power,
        learning_rate_factors=factors,
        # The training step adds them up itself.
        aggregate_gradients=False,
        beta_1=options.adam_beta_1,
        beta_2=options.adam_beta_2,
        weight_decay=options.weight_decay,
        time_spent=time_spent,
    )


def freeze_layers(model: keras.Model, num_layers: int) -> None:
    """Leaves the embeddings and the lowest blocks out of training.

    Raises:
        ValueError: the model has fewer blocks.
    """
    if not num_layers:
        return
    blocks = model.bert.encoder.blocks
    if num_layers > len(blocks):
        raise ValueError(
            f"--freeze_layers={num_layers}, but the model has {len(blocks)}"
        )
    for layer in [model.bert.embeddings, *blocks[:num_layers]]:
        layer.trainable = False


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
