"""Ends a script at SIGTERM or Ctrl-C, after it has cleaned up."""

import contextlib
import signal
import types
from collections.abc import Callable, Iterator
from typing import TypeAlias

# What `signal.signal` accepts: a function, SIG_IGN or SIG_DFL.
Handler: TypeAlias = (
    Callable[[int, types.FrameType | None], object] | int | None
)

_SIGNALS: tuple[int, ...] = (signal.SIGTERM, signal.SIGINT)


class SignalInterrupt(KeyboardInterrupt):
    """A signal ended the work. `cli.Command` prints the text of this exception.

    It is no Exception, so that no library handles it as an ordinary error.

    Attributes:
        name: name of the signal, such as "SIGTERM".
        status: exit status of the script, as shells use it.
    """

    def __init__(self, signal_number: int, text: str = "") -> None:
        self.signal_number = signal_number
        self.name = signal.Signals(signal_number).name
        self.status = 128 + signal_number
        super().__init__(text or f"stopped by {self.name}")

    def with_text(self, text: str) -> "SignalInterrupt":
        """Returns the exception with `text` after "stopped by SIGTERM"."""
        return SignalInterrupt(
            self.signal_number, f"stopped by {self.name} {text}"
        )


class CtrlC:
    """Remembers Ctrl-C, because TensorFlow may turn it into another error.

    Attributes:
        was_pressed: whether Ctrl-C was pressed since `watch` was called.
    """

    def __init__(self) -> None:
        self.was_pressed = False

    def watch(self) -> None:
        """Sets the handler of Ctrl-C, unless the process has one already.

        Ctrl-C raises KeyboardInterrupt, as it does without this handler.
        """
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(
        self, signal_number: int, frame: types.FrameType | None
    ) -> None:
        self.was_pressed = True
        signal.default_int_handler(signal_number, frame)


@contextlib.contextmanager
def handled_by(handle: Callable[[int, Handler], None]) -> Iterator[None]:
    """Calls a function at SIGTERM or Ctrl-C in a `with` block.

    After the block, the signals have the handlers that they had before.

    Args:
        handle: function of the signal's number, and of its handler before the
            block.
    """
    former = {
        signal_number: signal.getsignal(signal_number)
        for signal_number in _SIGNALS
    }

    def call(signal_number: int, _: types.FrameType | None) -> None:
        handle(signal_number, former[signal_number])

    for signal_number in _SIGNALS:
        signal.signal(signal_number, call)
    try:
        yield
    finally:
        for signal_number, handler in former.items():
            signal.signal(signal_number, handler)


@contextlib.contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """Raises SignalInterrupt in a `with` block at SIGTERM or Ctrl-C.

    The signals that follow are ignored, so that they do not interrupt the block
    while it cleans up.

    Yields:
        a function that ignores the signals up to the end of the block. Call it
        before the last step of the work, which is quick and must not be
        interrupted.
    """

    def ignore() -> None:
        for signal_number in _SIGNALS:
            signal.signal(signal_number, signal.SIG_IGN)

    def stop(signal_number: int, _: Handler) -> None:
        ignore()
        raise SignalInterrupt(signal_number)

    with handled_by(stop):
        yield ignore
