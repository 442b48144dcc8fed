"""Sums the gradients of all replicas, and decides what a step does with them.

Each replica calls these functions with its own values, inside of a tf.function,
and gets the same results as the others.
"""

import enum
from typing import NamedTuple, TypeVar

import numpy as np
import tensorflow as tf

from modeling.tensors import Tensor
from training.loop.replica_gradients import ReplicaGradients

ValuesT = TypeVar("ValuesT")


class Outcome(enum.IntEnum):
    """Whether a step updated the weights, and if not, why it was skipped.

    Attributes:
        APPLIED: the step updated the weights.
        OVERFLOWED: the step was skipped, because float16's loss scaling made
            the gradient overflow, which is normal.
        NOT_FINITE: the step was skipped, because its loss or gradient is not
            finite.
    """

    APPLIED = 0
    OVERFLOWED = 1
    NOT_FINITE = 2


class StepGradients(NamedTuple):
    """Gradients and losses of a step, summed over all replicas.

    Attributes:
        dense: {index of a trainable variable: dense gradient}, multiplied by
            the loss scale, and not clipped yet.
        clip_factor: factor by which to multiply the gradients to clip them.
        norm: global norm of the gradients, without the loss scale.
        losses: {name: loss}.
        outcome: an `Outcome`, int [].
    """

    dense: dict[int, tf.Tensor]
    clip_factor: tf.Tensor
    norm: tf.Tensor
    losses: dict[str, Tensor]
    outcome: tf.Tensor


def sum_over_replicas(values: ValuesT) -> ValuesT:
    """Returns the sums of values over all replicas."""
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return values
    return context.all_reduce(tf.distribute.ReduceOp.SUM, values)


def create_step_gradients(
    replica_gradients: ReplicaGradients,
    *,
    clip_norm: float,
    loss_scale: tf.Tensor | float,
) -> StepGradients:
    """Sums the gradients of all replicas, and decides the outcome of the step.

    Args:
        replica_gradients: gradients and losses of the replica that calls.
        clip_norm: the largest global norm that is not clipped.
        loss_scale: factor by which the gradients are multiplied.
    """
    sums = sum_over_replicas(replica_gradients)
    norm = sums.global_norm()
    scale = tf.cast(loss_scale, norm.dtype)
    return StepGradients(
        dense=sums.dense,
        clip_factor=_compute_clip_factor(norm, clip_norm * scale),
        norm=norm / scale,
        losses=sums.losses,
        outcome=_choose_outcome(sums.losses["loss"], norm, scale),
    )


def _choose_outcome(
    loss: Tensor, norm: tf.Tensor, scale: tf.Tensor
) -> tf.Tensor:
    """Returns the outcome of a step, by the loss and the gradient's norm."""
    # If the loss is finite and the loss scale is above 1, the scale may be the
    # only reason why the gradient is not finite.
    is_finite = tf.math.is_finite(loss)
    is_overflow = is_finite & (scale > 1)
    skipped = tf.where(is_overflow, Outcome.OVERFLOWED, Outcome.NOT_FINITE)
    is_applied = tf.math.is_finite(norm) & is_finite
    return tf.where(is_applied, Outcome.APPLIED, skipped)


def _compute_clip_factor(norm: tf.Tensor, limit: tf.Tensor) -> tf.Tensor:
    """Returns the factor that clips gradients of this global norm to the limit.

    The factor is NaN if the norm is not finite, as in tf.clip_by_global_norm.
    """
    factor = limit * tf.minimum(1.0 / norm, 1.0 / limit)
    return tf.where(tf.math.is_finite(norm), factor, np.nan)
