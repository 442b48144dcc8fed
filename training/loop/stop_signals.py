"""Ends a training at a signal, after the current step, which is saved."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from absl import logging

from terminal import signals

# Exit status of a script whose training a signal stopped: EX_TEMPFAIL, "try
# again".
STOPPED_STATUS = 75


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
