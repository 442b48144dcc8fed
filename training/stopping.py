"""Signals that stop a run, and workers that stop after the same step."""

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf

# Exit status of a run that a stop signal ended: EX_TEMPFAIL, "try again".
INTERRUPTED_STATUS = 75
# Several workers agree to stop only every so many steps, and when a save is
# due, because an agreement needs a message to all workers.
AGREEMENT_STEPS = 100


@contextlib.contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Yields an event that SIGTERM or SIGINT sets inside a `with` block.

    A second SIGTERM or a second SIGINT ends the process.
    """
    stop = threading.Event()
    before: dict[int, Any] = {}

    def handle(signum: int, frame: object) -> None:
        del frame
        stop.set()
        signal.signal(signum, before[signum])

    if threading.current_thread() is threading.main_thread():
        for signum in (signal.SIGTERM, signal.SIGINT):
            before[signum] = signal.signal(signum, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def agree(
    strategy: tf.distribute.Strategy, wishes: Sequence[bool], is_due: bool
) -> Sequence[bool]:
    """Returns for each wish to end training whether all workers follow it.

    Alone, a process follows its wishes at once. Several workers end after the
    same step: if `is_due`, which they all set after the same step, each follows
    the wishes of any worker.
    """
    if not isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        return wishes
    if not is_due:
        return [False] * len(wishes)
    return list(_count(strategy)(tf.constant(wishes, tf.int32)).numpy() > 0)


@functools.cache
def _count(
    strategy: tf.distribute.Strategy,
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Returns a function that adds up the wishes of all replicas."""

    def add(wishes: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        # tf.identity copies the wishes to this replica's device, as the
        # reduction requires.
        return context.all_reduce(
            tf.distribute.ReduceOp.SUM, tf.identity(wishes)
        )

    @tf.function(autograph=False)
    def count(wishes: tf.Tensor) -> tf.Tensor:
        counts = strategy.run(add, args=(wishes,))
        return strategy.experimental_local_results(counts)[0]

    return count
