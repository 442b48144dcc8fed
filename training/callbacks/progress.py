"""Reports losses, speed and progress in the history, the log and a bar."""

import contextlib
import math
import time
from collections.abc import Iterator
from typing import Any

from absl import logging

from files import progress
from training import costs
from training.callbacks import Callback, Logs

# Maximum fraction of training time to spend on measuring the device's peak rate
# (operations per second).
_MEASURING_SHARE = 0.01


class ProgressBar(Callback):
    """Shows a progress bar on a terminal, otherwise occasional log lines.

    The speed in the bar excludes the time of other callbacks and of saving.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._pause = contextlib.ExitStack()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Shows the bar inside a `with` block."""
        self._bar = progress.Progress(
            self.trainer.num_train_steps,
            self.trainer.step,
            "step",
            self.trainer.config.batch_size,
            "Training",
        )
        with self._bar, self._pause:
            yield

    def on_step_begin(self) -> float:
        """Resumes the bar's clock, which `on_step` paused."""
        self._pause.close()
        return 0.0

    def on_step(self, step: int, logs: Logs, agreed: float) -> None:
        """Updates the bar if an update is due, and pauses the bar's clock."""
        if self._bar.due(step):
            self._bar.update(step, **logs)
        self._pause.enter_context(self._bar.paused())


class Summaries(Callback):
    """Adds losses, speed and memory to the run's history, and logs them."""

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None
        self._peak, self._measure_at = 0.0, -math.inf

    @property
    def every(self) -> int:  # type: ignore[override]
        """The value of --summary_steps."""
        return self.trainer.config.summary_steps

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Measures the peak rate, and counts the operations of an example."""
        trainer, config = self.trainer, self.trainer.config
        self._per_example = {"examples": 1}
        # Report tokens_per_second and mfu (model FLOPs utilization, the
        # achieved fraction of the peak rate) only if padding is not skipped.
        # Otherwise the number of operations per example depends on the batch.
        if not config.unpads:
            self._per_example["tokens"], _ = trainer.shape
            self._flops = costs.training_flops(
                trainer.model.config, *trainer.shape
            )
            self._peak_rate()
        yield

    def on_step(self, step: int, logs: Logs, agreed: float) -> None:
        """Adds losses and speed to the history at each multiple of `every`."""
        if self._last is None:
            # Ignore the speed of the first step, whose time includes start-up.
            self._last = (step, time.monotonic())
        if step % self.every:
            return
        values = dict(logs)
        before, began = self._last
        seconds = time.monotonic() - began
        if step > before:
            examples = (step - before) * self.trainer.config.batch_size
            rate = examples / max(seconds, 1e-9)
            for name, count in self._per_example.items():
                values[f"{name}_per_second"] = rate * count
            if "tokens" in self._per_example:
                achieved = rate * self._flops
                values["mfu"] = achieved / self._peak_rate(achieved)
            # Read the clock again, to exclude the time of measuring the peak
            # rate.
            self._last = (step, time.monotonic())
        values["peak_memory_gib"] = costs.peak_memory() / 2**30
        self.trainer.history.add("train", step, values)
        logging.info(
            "Step %d: %s",
            step,
            ", ".join(f"{name} {value:.4g}" for name, value in values.items()),
        )

    def _peak_rate(self, achieved: float = 0.0) -> float:
        """Returns the highest rate measured so far, in operations per second.

        A measurement on a busy machine is too low. So this method measures
        again and again, but for at most _MEASURING_SHARE of the training time.
        If training reached a higher rate, `achieved`, this rate is returned.
        """
        started = time.monotonic()
        if started >= self._measure_at:
            rate = costs.matmul_rate(self.trainer.config.mixed_precision)
            rate *= self.trainer.strategy.num_replicas_in_sync
            self._peak = max(self._peak, rate)
            ended = time.monotonic()
            self._measure_at = ended + (ended - started) / _MEASURING_SHARE
        self._peak = max(self._peak, achieved)
        return self._peak
