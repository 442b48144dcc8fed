"""Builds a model and its Trainer."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

import modeling
from training import averaging, distillation, distribution, loop, optimization
from training.options import TrainingOptions


def create_trainer(
    options: TrainingOptions,
    create_model: Callable[..., keras.Model],
    loss: Any,
    strategy: tf.distribute.Strategy,
    num_train_steps: int | None,
    num_warmup_steps: int,
    teacher: distillation.Teacher | None = None,
) -> loop.Trainer:
    """Returns the Trainer of a new model with random weights.

    Args:
        options: TrainingOptions.
        create_model: (**arguments of every model) -> the task's model.
        loss: the task's loss.
        strategy: where the variables are made.
        num_train_steps: length of training; None without training.
        num_warmup_steps: length of the warmup.
        teacher: the teacher to distill, or None.

    Raises:
        ValueError: --freeze_layers is more than the model has.
    """
    optimizer = time_spent = averages = distiller = None
    with strategy.scope():
        model = create_model(
            use_one_hot_embeddings=options.is_tpu,
            gradient_checkpointing=options.gradient_checkpointing,
            unpad=options.unpads,
            seed=options.seed,
        )
        model.build()
        if num_train_steps is not None:
            optimization.freeze_layers(model, options.freeze_layers)
            if options.lr_schedule == "time":
                time_spent = tf.Variable(0.0, trainable=False, dtype=tf.float64)
            optimizer = distribution.scale_losses(
                optimization.create_optimizer(
                    options,
                    num_train_steps,
                    num_warmup_steps,
                    optimization.layerwise_factors(
                        model.config.num_hidden_layers,
                        options.layerwise_lr_decay,
                    ),
                    # The training step sums them itself.
                    aggregate_gradients=False,
                    time_spent=time_spent,
                ),
                options.mixed_precision,
            )
            if teacher:
                distiller = teacher.create_distiller(model)
    if num_train_steps is not None and options.ema_decay:
        averages = averaging.WeightAverages(
            modeling.named_variables(model), options.ema_decay, strategy
        )
    return loop.Trainer(
        model,
        loss,
        optimizer,
        strategy,
        clip_norm=options.clip_norm,
        gradient_accumulation_steps=options.gradient_accumulation_steps,
        jit_compile=options.jit_compile,
        time_spent=time_spent,
        averages=averages,
        distiller=distiller,
    )
