"""Counts the hours that a run has trained, in all of its commands."""

import contextlib
import time
from collections.abc import Iterator


class TrainingClock:
    """Counts the hours of a run's training, evaluations included."""

    def __init__(self) -> None:
        # time.monotonic() at which the training began, None while not training.
        self._started: float | None = None
        # Hours of training before `_started`.
        self._hours_before = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the run is training."""
        return self._started is not None

    @property
    def hours(self) -> float:
        """Hours that the run has trained so far."""
        if self._started is None:
            return self._hours_before
        return self._hours_before + (time.monotonic() - self._started) / 3600

    def set_hours(self, hours: float) -> None:
        """Continues from the hours that an earlier command trained."""
        self._hours_before = hours

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Counts the hours inside a `with` block."""
        self._started = time.monotonic()
        try:
            yield
        finally:
            self._hours_before = self.hours
            self._started = None
