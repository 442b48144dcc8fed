"""Shows progress: a bar on a terminal, occasional log lines elsewhere."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

import tqdm
from absl import logging

_Element = TypeVar("_Element")

# Minimum number of seconds between two updates of the progress bar, and between
# two log lines.
BAR_INTERVAL = 0.5
LINE_INTERVAL = 10.0


class Progress:
    """Shows the progress of some work, its rate and the time left.

    Args:
        total: total number of units of work, None if unknown.
        initial: number of units that an earlier, interrupted run finished.
        unit: name of a unit of work, such as "step" or "record".
        examples_per_unit: number of examples in a unit of work, to show the
            examples per second. None = do not show this rate.
        label: name of the work, such as "Training".
    """

    def __init__(
        self,
        total: int | None,
        initial: int = 0,
        unit: str = "step",
        examples_per_unit: int | None = None,
        label: str = "",
    ) -> None:
        self.total = total
        self.unit = unit
        self.label = label
        self.examples_per_unit = examples_per_unit
        self._bar = tqdm.tqdm(
            total=total,
            initial=initial,
            unit=unit,
            desc=label or None,
            disable=not sys.stderr.isatty(),
            dynamic_ncols=True,
            leave=True,
        )
        self._interval = LINE_INTERVAL if self._bar.disable else BAR_INTERVAL
        self.shown = initial
        self._shown_at = time.monotonic()
        self._first = True

    def __enter__(self) -> Self:
        """Starts measuring the time of the first units."""
        self._shown_at = time.monotonic()
        return self

    def __exit__(self, *unused_args: object) -> None:
        """Ends the progress bar, if there is one."""
        self._bar.close()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Excludes the duration of the `with` block from the rate."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._shown_at += time.monotonic() - began

    def due(self, done: int) -> bool:
        """Returns whether it is time to call `update`.

        `done` is the number of finished units, including `initial`.
        """
        if self._first or done == self.total:
            return done != self.shown
        return time.monotonic() - self._shown_at >= self._interval

    def update(self, done: int, **values: float) -> None:
        """Shows the progress, and `values`, {name: number}, such as the loss.

        `done` is the number of finished units, including `initial`.
        """
        now = time.monotonic()
        rate = (done - self.shown) / max(now - self._shown_at, 1e-9)
        if self.examples_per_unit:
            name = "rows" if self.unit == "row" else "examples"
            values[f"{name}/s"] = rate * self.examples_per_unit
        shown = {name: f"{value:.4g}" for name, value in values.items()}
        if self._bar.disable:
            end = "" if self.total is None else f" of {self.total}"
            parts = [f"{self.label} {self.unit} {done}{end}".strip()]
            parts += [f"{name} {value}" for name, value in shown.items()]
            # The time up to the first update includes the program's startup, so
            # estimate the time left only from the next update on.
            if self.total is not None and rate > 0 and not self._first:
                left = tqdm.tqdm.format_interval((self.total - done) / rate)
                parts.append(f"{left} left")
            logging.info("%s", "  ".join(parts))
        else:
            self._bar.set_postfix(shown, refresh=False)
            self._bar.update(done - self.shown)
        self._first = False
        self.shown, self._shown_at = done, now


def track(
    iterable: Iterable[_Element],
    total: int | None = None,
    unit: str = "record",
    label: str = "",
) -> Iterator[_Element]:
    """Yields the elements of `iterable`, and shows how many were yielded.

    `Progress` documents the other arguments.
    """
    done = 0
    with Progress(total, unit=unit, label=label) as progress:
        for done, element in enumerate(iterable, start=1):
            yield element
            # Do not show the progress of a single element.
            if total != 1 and progress.due(done):
                progress.update(done)
        if total != 1 and progress.shown != done:
            progress.update(done)
