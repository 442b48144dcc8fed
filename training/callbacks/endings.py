"""Ends a run after --max_hours, or when it receives a signal."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from absl import logging

from training.callbacks import Callback, Logs

# Exit status of a run that a stop signal ended: EX_TEMPFAIL, "try again".
INTERRUPTED_STATUS = 75


class TimeLimit(Callback):
    """Ends a run after --max_hours of training, counted across resumes.

    The hours include evaluations.

    Args:
        max_hours: time limit of the run in hours. None = no limit.

    Attributes:
        hours_before: hours trained before the checkpoint that was resumed.
    """

    def __init__(self, max_hours: float | None = None) -> None:
        self._max_hours = max_hours
        self.hours_before = 0.0
        self._started: float | None = None

    @property
    def hours(self) -> float:
        """Hours that the run has trained so far."""
        if self._started is None:
            return self.hours_before
        return self.hours_before + (time.monotonic() - self._started) / 3600

    @property
    def spent(self) -> float:
        """Fraction of --max_hours that is spent, 1.0 or more at the end."""
        return self.hours / self._max_hours if self._max_hours else 0.0

    def has_ended(self, step: int) -> bool:
        """Returns whether --max_hours are used up. If so, logs a message."""
        if self.spent < 1:
            return False
        logging.info(
            "Nothing left to do: the run has trained for --max_hours=%s.",
            self._max_hours,
        )
        return True

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Adds the duration of a `with` block to the hours trained."""
        self._started = time.monotonic()
        try:
            yield
        finally:
            self.hours_before, self._started = self.hours, None

    def on_step_begin(self) -> float:
        """Returns the fraction of --max_hours that is spent."""
        return self.spent

    def on_step(self, step: int, logs: Logs, agreed: float) -> bool:
        """Returns whether --max_hours are used up.

        `agreed` is the spent fraction of --max_hours, averaged over workers.
        """
        if agreed >= 1:
            logging.info("Reached --max_hours after step %d.", step)
        return agreed >= 1


class StopSignals(Callback):
    """Ends all workers after the same step if one of them receives a signal.

    A second SIGTERM or a second SIGINT ends the process without saving.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._stopped_at: int | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Handles SIGTERM and SIGINT inside a `with` block.

        Raises:
            SystemExit: a signal has ended the training.
        """
        before: dict[int, Any] = {}

        def handle(signum: int, frame: object) -> None:
            del frame
            self._stop.set()
            signal.signal(signum, before[signum])

        if threading.current_thread() is threading.main_thread():
            for signum in (signal.SIGTERM, signal.SIGINT):
                before[signum] = signal.signal(signum, handle)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self._stopped_at is not None:
            logging.warning(
                "Stopped after step %d, which is saved. Run the same command "
                "again to resume.",
                self._stopped_at,
            )
            raise SystemExit(INTERRUPTED_STATUS)

    def on_step_begin(self) -> float:
        """Returns 1.0 if this worker received a signal, else 0.0."""
        return float(self._stop.is_set())

    def on_step(self, step: int, logs: Logs, agreed: float) -> bool:
        """Returns whether any worker received a signal."""
        if agreed > 0:
            self._stopped_at = step
        return agreed > 0
