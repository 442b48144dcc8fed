"""Ends runs: at signals, after skipped steps, or when any worker wants to."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import NoReturn

import tensorflow as tf
from absl import logging

from data.arrays import IntArray
from files.paths import StrPath
from terminal import signals
from training.loop.train_step import Outcome

# Exit status of a run that a stop signal ended: EX_TEMPFAIL, "try again".
INTERRUPTED_STATUS = 75
# Several workers agree to stop after this number of steps, or when a save or
# evaluation is due. To agree after each step would slow the training down.
AGREEMENT_STEPS = 100
# Number of skipped steps in a row that end a training.
MAX_SKIPPED_STEPS = 10


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


def exit_after_signal(step: int) -> NoReturn:
    """Ends the process of a run that a signal stopped at `step`.

    Raises:
        SystemExit: always, with the status INTERRUPTED_STATUS.
    """
    logging.warning(
        "Stopped after step %d, which is saved. Run the same command again to "
        "resume.",
        step,
    )
    raise SystemExit(INTERRUPTED_STATUS)


class SkippedStepCounter:
    """Counts the steps in a row that changed no weight.

    A gradient that overflows only because of float16's loss scaling does not
    count.

    Args:
        output_dir: folder of the run, for the message.

    Attributes:
        num_in_a_row: number of these steps up to the current step.
    """

    def __init__(self, output_dir: StrPath) -> None:
        self._output_dir = output_dir
        self.num_in_a_row = 0

    def count(self, step: int, outcomes: IntArray) -> None:
        """Counts the outcomes of steps, the last of which is `step`.

        Raises:
            ValueError: MAX_SKIPPED_STEPS steps in a row were skipped.
        """
        for outcome_step, outcome in enumerate(
            outcomes, step - len(outcomes) + 1
        ):
            if outcome == Outcome.APPLIED:
                self.num_in_a_row = 0
            elif outcome == Outcome.NOT_FINITE:
                self.num_in_a_row += 1
                logging.warning(
                    "Step %d was skipped (%d in a row), because its loss or "
                    "gradient is not finite.",
                    outcome_step,
                    self.num_in_a_row,
                )
            if self.num_in_a_row >= MAX_SKIPPED_STEPS:
                raise ValueError(
                    f"the loss or gradient of {self.num_in_a_row} steps in a "
                    f"row was not finite, up to step {outcome_step}. Set a "
                    "smaller --learning_rate. If the weights of the newest "
                    f"checkpoint in {self._output_dir} are the "
                    "cause, remove its files to resume from an earlier step"
                )
