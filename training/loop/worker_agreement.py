"""Lets all workers of a training end after the same step."""

from collections.abc import Sequence

import tensorflow as tf

# Several workers agree to end after this number of steps, or when a save or
# evaluation is due. To agree after each step would slow the training down.
AGREEMENT_STEPS = 100


def agree_on_end(
    strategy: tf.distribute.Strategy,
    wants_end: Sequence[bool],
    *,
    is_due: bool,
) -> Sequence[bool]:
    """Returns for each reason to end whether all workers end for it.

    A process that trains alone ends at once. Several workers must end after the
    same step. So they ask each other only if `is_due`, and then all end if any
    of them wants to.

    Args:
        strategy: the strategy of the training.
        wants_end: for each reason, whether this process wants to end.
        is_due: whether the workers ask each other after this step. All workers
            must set it after the same steps.
    """
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return wants_end
    if not is_due:
        return [False] * len(wants_end)
    counts = strategy.run(lambda: tf.constant(wants_end, tf.int32))
    counts = strategy.reduce(tf.distribute.ReduceOp.SUM, counts, axis=None)
    return list(counts.numpy() > 0)
