"""Signals that stop a run, and workers that stop after the same step."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
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
    counts = strategy.run(lambda: tf.constant(wishes, tf.int32))
    counts = strategy.reduce(tf.distribute.ReduceOp.SUM, counts, axis=None)
    return list(counts.numpy() > 0)
