"""Saves a checkpoint and ends training after SIGTERM or SIGINT."""

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from absl import logging

from training.callbacks import Callback

# Exit status of a run that a stop signal ended: EX_TEMPFAIL, "try again".
INTERRUPTED_STATUS = 75


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

    def on_step(
        self, step: int, logs: Mapping[str, float], agreed: float
    ) -> bool:
        """Returns whether any worker received a signal."""
        if agreed > 0:
            self._stopped_at = step
        return agreed > 0
