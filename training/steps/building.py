"""Builds a model and its Trainer."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import keras
import tensorflow as tf

import modeling
from training.loss import Loss
from training.optimizers import averaging, optimization
from training.options import TrainingOptions
from training.steps import distillation, distribution, loop
from training.steps.train_step import StepOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """The model, loss and length of a run.

    Attributes:
        create_model: (**arguments of every model) -> the task's model.
        loss: the task's loss; None where the model only predicts.
        num_train_steps: length of training; None without training.
        num_warmup_steps: length of the warmup.
        max_seq_length: length of the inputs, in WordPieces.
        settings: settings that must not change in a resume (see
            run_settings.check).
        teacher: the teacher to distill, or None.
    """

    create_model: Callable[..., keras.Model]
    loss: Loss | None
    num_train_steps: int | None
    num_warmup_steps: int
    max_seq_length: int
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    teacher: distillation.Teacher | None = None


def create_trainer(
    options: TrainingOptions, plan: Plan, strategy: tf.distribute.Strategy
) -> loop.Trainer:
    """Returns the Trainer of a new model with random weights.

    Args:
        options: TrainingOptions.
        plan: Plan.
        strategy: where the variables are made.

    Raises:
        ValueError: --freeze_layers is more than the model has.
    """
    optimizer = time_spent = averages = distiller = None
    with strategy.scope():
        model = plan.create_model(
            use_one_hot_embeddings=options.is_tpu,
            gradient_checkpointing=options.gradient_checkpointing,
            unpad=options.unpads,
            seed=options.seed,
        )
        model.build()
        if plan.num_train_steps is not None:
            _freeze_layers(model, options.freeze_layers)
            if options.lr_schedule == "time":
                time_spent = tf.Variable(0.0, trainable=False, dtype=tf.float64)
            optimizer = distribution.scale_losses(
                optimization.create_optimizer(
                    options,
                    plan.num_train_steps,
                    plan.num_warmup_steps,
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
            if plan.teacher:
                distiller = plan.teacher.create_distiller(model)
    if plan.num_train_steps is not None and options.ema_decay:
        averages = averaging.WeightAverages(
            modeling.named_variables(model), options.ema_decay, strategy
        )
    return loop.Trainer(
        model,
        plan.loss,
        optimizer,
        strategy,
        StepOptions(
            clip_norm=options.clip_norm,
            gradient_accumulation_steps=options.gradient_accumulation_steps,
            jit_compile=options.jit_compile,
            time_spent=time_spent,
            averages=averages,
        ),
        distiller,
    )


def _freeze_layers(model: keras.Model, num_layers: int) -> None:
    """Freezes the embeddings and the lowest blocks.

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
