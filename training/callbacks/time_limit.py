"""Ends a run after --max_hours.

Also tells the learning rate schedule how much of this time has been spent.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping

import tensorflow as tf
from absl import logging

from training.callbacks import Callback


class TimeLimit(Callback):
    """Counts the hours of a run across resumes, and ends it at the limit.

    The hours include evaluations.

    Args:
        max_hours: time limit of the run in hours. None = no limit.
        spent_variable: float variable, which each step sets to the fraction of
            --max_hours that is spent. None if --lr_schedule is not "time".

    Attributes:
        hours_before: hours trained before the resumed checkpoint.
    """

    def __init__(
        self,
        max_hours: float | None = None,
        spent_variable: tf.Variable | None = None,
    ) -> None:
        self._max_hours = max_hours
        self._spent_variable = spent_variable
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
        """Returns whether earlier commands have spent --max_hours. Logs it."""
        if self.spent < 1:
            return False
        logging.info(
            "Nothing left to do: the run has trained for --max_hours=%s.",
            self._max_hours,
        )
        return True

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Adds the duration of a `with` block to the time spent."""
        self._started = time.monotonic()
        try:
            yield
        finally:
            self.hours_before, self._started = self.hours, None

    def on_step_begin(self) -> float:
        """Returns the fraction of --max_hours that is spent."""
        return self.spent

    def before_update(self, agreed: tf.Tensor) -> None:
        """Sets the variable from which the schedule reads the time spent.

        `agreed` is the fraction of --max_hours, averaged over all workers.
        """
        if self._spent_variable is not None:
            self._spent_variable.assign(tf.cast(agreed, tf.float64))

    def on_step(
        self, step: int, logs: Mapping[str, float], agreed: float
    ) -> bool:
        """Returns whether the time spent is at least --max_hours.

        `agreed` is the fraction of --max_hours, averaged over all workers.
        """
        if agreed >= 1:
            logging.info("Reached --max_hours after step %d.", step)
        return agreed >= 1
