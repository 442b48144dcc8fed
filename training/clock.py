"""Counts training time across resumes."""

import contextlib
import time
from collections.abc import Callable, Iterator


class Clock:
    """Counts the seconds of a run's training, evaluations included.

    Args:
        max_hours: time limit of the run; None = no limit.
        now: () -> seconds, for tests.
    """

    def __init__(
        self,
        max_hours: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_hours = max_hours
        self._now = now
        self._before = 0.0
        self._started: float | None = None

    def resume(self, hours: float) -> None:
        """Adds the hours before the checkpoint that is resumed."""
        self._before = hours * 3600

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Counts the time that the block takes."""
        self._started = self._now()
        try:
            yield
        finally:
            self._before, self._started = self.hours * 3600, None

    @property
    def hours(self) -> float:
        """Hours so far."""
        running = 0.0 if self._started is None else self._now() - self._started
        return (self._before + running) / 3600

    @property
    def spent(self) -> float:
        """Fraction of the time spent, 1.0 or more at the end."""
        return self.hours / self._max_hours if self._max_hours else 0.0
