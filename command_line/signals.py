"""Ends a script at SIGTERM or Ctrl-C, after it has cleaned up."""

import contextlib
import signal
import types
from collections.abc import Callable, Iterator
from typing import Any


class Stopped(KeyboardInterrupt):
    """A signal ended the work. `cli.run` prints the text of this exception.

    It is no Exception, so that no library takes it for an error of its own.

    Attributes:
        name: name of the signal, such as "SIGTERM".
        status: exit status of the script, as shells use it.
    """

    def __init__(self, number: int, text: str = "") -> None:
        self.number = number
        self.name = signal.Signals(number).name
        self.status = 128 + number
        super().__init__(text or f"stopped by {self.name}")

    def saying(self, text: str) -> "Stopped":
        """Returns the exception with `text` after "stopped by SIGTERM"."""
        return Stopped(self.number, f"stopped by {self.name} {text}")


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Raises Stopped in a `with` block at SIGTERM or Ctrl-C.

    The signals that follow are ignored, so that they do not interrupt what the
    block cleans up.

    Yields:
        a function that ignores the signals up to the end of the block. Call it
        before the last step of the work, which is quick and must not be
        interrupted.
    """

    def ignore() -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)

    def stop(number: int, _: types.FrameType | None) -> None:
        ignore()
        raise Stopped(number)

    before: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        before[number] = signal.signal(number, stop)
    try:
        yield ignore
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
