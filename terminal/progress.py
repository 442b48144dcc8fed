"""Shows progress: one changing line on a terminal, else lines of the log."""

import contextlib
import datetime
import math
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Self, TypeVar

from absl import logging

_Element = TypeVar("_Element")

# Minimum number of seconds between two updates on a terminal, and between two
# log lines. Work of fewer seconds than FIRST_LINE logs no line.
BAR_INTERVAL = 0.5
LINE_INTERVAL = 10.0
FIRST_LINE = 3.0


class Progress:
    """Shows the progress of some work, its rate and the time left.

    Args:
        total: total number of units of work, None if unknown.
        initial: number of units that an earlier, interrupted run finished.
        unit: name of a unit of work, such as "record".
        examples_per_unit: number of examples in a unit of work, to show the
            examples per second. If None, this rate is not shown.
        examples_name: what the line calls the examples, such as "rows".
        description: name of the work, such as "Training".
        epochs: number of epochs in `total`. If None, no epoch is shown.
        shows_ends: whether the first update and the last one are always due,
            even if the work is short.

    Attributes:
        is_terminal: whether the progress is a line on a terminal, not in a log.
        num_shown: number of finished units that were shown last.
    """

    def __init__(
        self,
        total: int | None,
        *,
        initial: int = 0,
        unit: str = "step",
        examples_per_unit: int | None = None,
        examples_name: str = "examples",
        description: str = "",
        epochs: float | None = None,
        shows_ends: bool = False,
    ) -> None:
        self._total = total
        self._epochs = epochs
        self._unit = unit
        self._description = description
        self._examples_per_unit = examples_per_unit
        self._examples_name = examples_name
        self._shows_ends = shows_ends
        self.is_terminal = sys.stderr.isatty()
        self._interval = BAR_INTERVAL if self.is_terminal else LINE_INTERVAL
        self.num_shown = initial
        self._shown_at = time.monotonic()
        self._is_first = True

    def __enter__(self) -> Self:
        """Returns this object. The first `update` starts the line."""
        return self

    def __exit__(self, *unused_args: object) -> None:
        """Ends the line on the terminal."""
        if self.is_terminal and not self._is_first:
            print(file=sys.stderr)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Excludes the duration of the `with` block from the rate."""
        begin_time = time.monotonic()
        try:
            yield
        finally:
            self._shown_at += time.monotonic() - begin_time

    def is_due(self, num_done: int) -> bool:
        """Returns whether it is time to call `update`.

        `num_done` is the number of finished units, including `initial`.
        """
        is_at_end = self._is_first or num_done == self._total
        if self._shows_ends and is_at_end:
            return num_done != self.num_shown
        interval = self._interval
        if self._is_first:
            interval = min(interval, FIRST_LINE)
        return time.monotonic() - self._shown_at >= interval

    def update(self, num_done: int, **values: float) -> None:
        """Shows the progress, and `values`, {name: number}, such as the loss.

        `num_done` is the number of finished units, including `initial`.
        """
        now = time.monotonic()
        rate = (num_done - self.num_shown) / max(now - self._shown_at, 1e-9)
        self._show(self._format_line(num_done, rate, values))
        self._is_first = False
        self.num_shown, self._shown_at = num_done, now

    def _format_line(
        self, num_done: int, rate: float, values: Mapping[str, float]
    ) -> str:
        """Returns the line to show.

        Args:
            num_done: number of finished units, including `initial`.
            rate: units per second since the last line.
            values: {name: number} to show.
        """
        end = "" if self._total is None else f" of {self._total}"
        parts = [f"{self._description} {self._unit} {num_done}{end}".strip()]
        if self._total and self._epochs:
            epoch = math.ceil(num_done * self._epochs / self._total)
            parts.append(f"epoch {epoch} of {math.ceil(self._epochs)}")
        parts += [f"{name} {value:.4g}" for name, value in values.items()]
        if self._examples_per_unit:
            examples_per_second = rate * self._examples_per_unit
            parts.append(f"{self._examples_name}/s {examples_per_second:.4g}")
        # The time up to the first update includes the program's startup, so
        # estimate the time left only from the next update on.
        if self._total is not None and rate > 0 and not self._is_first:
            seconds_left = int((self._total - num_done) / rate)
            parts.append(f"{datetime.timedelta(seconds=seconds_left)} left")
        return "  ".join(parts)

    def _show(self, line: str) -> None:
        """Replaces the line on the terminal, or writes a line to the log."""
        if self.is_terminal:
            # Go to the start of the line and clear it. A line that does not fit
            # would stay.
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{line[:width]}", end="", file=sys.stderr)
            sys.stderr.flush()
        else:
            logging.info("%s", line)


def track(
    iterable: Iterable[_Element],
    total: int | None = None,
    unit: str = "record",
    description: str = "",
) -> Iterator[_Element]:
    """Yields the elements of `iterable`, and shows how many were yielded.

    Args:
        iterable: what to yield.
        total: number of elements, None if it is not known.
        unit: what an element is.
        description: what is done with the elements.
    """
    num_done = 0
    with Progress(total, unit=unit, description=description) as progress:
        for num_done, element in enumerate(iterable, start=1):
            yield element
            if progress.is_due(num_done):
                progress.update(num_done)
        if progress.is_terminal and progress.num_shown not in (0, num_done):
            progress.update(num_done)
