"""Lets all workers of a training stop after the same step."""

from collections.abc import Sequence

import tensorflow as tf

# Several workers agree to stop after this number of steps, or when a save or
# evaluation is due. To agree after each step would slow the training down.
AGREEMENT_STEPS = 100


def agree_on_stop(
    strategy: tf.distribute.Strategy,
    wants_stop: Sequence[bool],
    *,
    is_due: bool,
) -> Sequence[bool]:
    """Returns for each reason to stop whether all workers stop for it.

    A process that trains alone stops at once. Several workers must stop after
    the same step. So they ask each other only if `is_due`, and then all stop if
    any of them wants to.

    Args:
        strategy: the strategy of the training.
        wants_stop: for each reason, whether this process wants to stop.
        is_due: whether the workers ask each other after this step. All workers
            must set it after the same steps.
    """
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return wants_stop
    if not is_due:
        return [False] * len(wants_stop)
    counts = strategy.run(lambda: tf.constant(wants_stop, tf.int32))
    counts = strategy.reduce(tf.distribute.ReduceOp.SUM, counts, axis=None)
    return list(counts.numpy() > 0)
