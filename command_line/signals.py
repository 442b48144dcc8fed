"""Ends a script at SIGTERM or Ctrl-C, after it has cleaned up."""

import contextlib
import signal
import types
from collections.abc import Callable, Iterator
from typing import Any

# What `signal.signal` takes: a function, SIG_IGN or SIG_DFL.
Handler = Callable[[int, types.FrameType | None], Any] | int | None

_SIGNALS: tuple[int, ...] = (signal.SIGTERM, signal.SIGINT)


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
def handled_by(handle: Callable[[int, Handler], None]) -> Iterator[None]:
    """Calls a function at SIGTERM or Ctrl-C in a `with` block.

    After the block, the signals have the handlers that they had before.

    Args:
        handle: function of the signal's number, and of its handler before the
            block.
    """
    former = {number: signal.getsignal(number) for number in _SIGNALS}

    def call(number: int, _: types.FrameType | None) -> None:
        handle(number, former[number])

    for number in _SIGNALS:
        signal.signal(number, call)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


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
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def stop(number: int, _: Handler) -> None:
        ignore()
        raise Stopped(number)

    with handled_by(stop):
        yield ignore
