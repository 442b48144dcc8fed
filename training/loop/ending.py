"""Decides why a training ends, so that all workers end after the same step.

`stop_signals` turns a signal into one of the reasons.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tensorflow as tf
from absl import logging

from terminal import signals

# Several workers agree to end after this number of steps, or when a save or
# evaluation is due. To agree after each step would slow the training down.
AGREEMENT_STEPS = 100
# Exit status of a script whose training a signal stopped: EX_TEMPFAIL, "try
# again".
STOPPED_STATUS = 75


class TrainingStopped(SystemExit):
    """A signal stopped the training. The same command resumes it.

    Like any SystemExit, it ends the script, with `STOPPED_STATUS`. So no code
    that follows the training runs.
    """

    def __init__(self) -> None:
        super().__init__(STOPPED_STATUS)


class EndReasons(NamedTuple):
    """The reasons why the training ends at a step, the same for all workers.

    The training goes on if no reason is true.

    Attributes:
        is_ended_by_callback: a callback ended it.
        is_time_over: --max_hours are over.
        is_stopped: a signal stopped it. The same command resumes it.
        is_complete: the step was the last one.
    """

    is_ended_by_callback: bool
    is_time_over: bool
    is_stopped: bool
    is_complete: bool


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


@contextlib.contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Yields an event that SIGTERM or Ctrl-C sets inside a `with` block.

    Unlike `signals.stoppable`, which interrupts the block, this lets the step
    that runs end and be saved. A second SIGTERM or a second Ctrl-C ends the
    process.
    """
    stop = threading.Event()

    def handle(signal_number: int, former: signals.Handler) -> None:
        stop.set()
        signal.signal(signal_number, former)
        # Log last, because logging fails if the signal interrupts another line.
        logging.warning("Stopping after this step, which is saved first")

    with signals.handled_by(handle):
        yield stop
