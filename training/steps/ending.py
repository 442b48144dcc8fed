"""Decides when training ends: steps, time, a signal, a lost worker."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from training.outputs import checkpointing

# Exit status of a run that saved after a stop signal (EX_TEMPFAIL).
INTERRUPTED_STATUS = 75


class End:
    """Decides after which step training ends.

    Args:
        num_train_steps: the step to end after.
        time_spent: () -> fraction of the training time spent.
        stop: set where a signal asks to stop.
        is_alone: whether no other worker has to end after the same step.
    """

    def __init__(
        self,
        num_train_steps: int,
        time_spent: Callable[[], float],
        stop: threading.Event,
        is_alone: bool,
    ) -> None:
        self._num_train_steps = num_train_steps
        self._time_spent = time_spent
        self._stop = stop
        self._is_alone = is_alone
        self._is_stopped = self._is_over = False

    def status(self) -> Sequence[float]:
        """Returns what all workers have to agree on; see TrainStep."""
        return float(self._stop.is_set()), self._time_spent()

    def is_after(self, step: int, agreed: Sequence[float]) -> bool:
        """Returns whether a step is the last.

        Args:
            step: the step.
            agreed: the workers' mean status before it.
        """
        # Another worker may have received the signal. With one worker there
        # is no need to wait for the next step.
        stopping, spent = self.status() if self._is_alone else agreed
        self._is_stopped = stopping > 0
        self._is_over = spent >= 1 and step < self._num_train_steps
        return (
            self._is_stopped or self._is_over or step == self._num_train_steps
        )

    def report(self, step: int) -> None:
        """Logs why training ended before its last step.

        Raises:
            SystemExit: a signal asked to stop.
        """
        if self._is_stopped:
            logging.warning(
                "Stopped after step %d, which is saved; rerun the same "
                "command to resume.",
                step,
            )
            raise SystemExit(INTERRUPTED_STATUS)
        if self._is_over:
            logging.info("Reached --max_hours after step %d.", step)


@contextlib.contextmanager
def lost_workers(
    checkpointer: checkpointing.Checkpointer | None,
) -> Iterator[None]:
    """Reports a lost worker in a one-line error.

    If a worker is missing, a collective operation fails on all others and
    cannot be repeated in the same processes.
    """
    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
        steps = checkpointer.steps() if checkpointer else []
        raise ConnectionError(
            "another worker was lost, so all stop; start every worker again "
            f"to resume from step {steps[-1] if steps else 0}"
        ) from error


@contextlib.contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Yields an event that SIGTERM and SIGINT set; a second signal kills."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before: dict[int, Any] = {}

    def handle(signum: int, frame: object) -> None:
        del frame
        stop.set()
        signal.signal(signum, before[signum])

    for signum in (signal.SIGTERM, signal.SIGINT):
        before[signum] = signal.signal(signum, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
