"""Reports losses, speed and memory in the history and the log."""

import math
import time
from typing import TYPE_CHECKING

from absl import logging

from training import costs
from training.callbacks import Callback, Logs

if TYPE_CHECKING:
    from training.trainer import Trainer

# Maximum fraction of training time to spend on measuring the device's peak rate
# (operations per second).
_MEASURING_SHARE = 0.01


class Summaries(Callback):
    """Adds losses, speed and memory to the run's history, and logs them.

    Args:
        trainer: the Trainer of the run.
        shape: (number of WordPieces, number of masked positions) of a padded
            example.
    """

    def __init__(self, trainer: "Trainer", shape: tuple[int, int]) -> None:
        self._trainer, self._config = trainer, trainer.config
        self.every = self._config.summary_steps
        self._last: tuple[int, float] | None = None
        self._peak, self._measure_at = 0.0, -math.inf
        self._num_tokens = self._flops = 0
        # Report tokens_per_second and mfu (model FLOPs utilization, the
        # achieved fraction of the peak rate) only if padding is not skipped.
        # Otherwise the number of operations per example depends on the batch.
        if not self._config.unpads:
            self._num_tokens, _ = shape
            self._flops = costs.training_flops(trainer.model.config, *shape)

    def on_step(self, step: int, logs: Logs) -> None:
        """Adds losses and speed to the history at each multiple of `every`."""
        if self._last is None:
            if self._flops:
                self._peak_rate()
            # Ignore the speed of the first step, whose time includes start-up.
            self._last = (step, time.monotonic())
        if step % self.every:
            return
        values = dict(logs)
        before, began = self._last
        if step > before:
            seconds = max(time.monotonic() - began, 1e-9)
            rate = (step - before) * self._config.batch_size / seconds
            values["examples_per_second"] = rate
            if self._flops:
                values["tokens_per_second"] = rate * self._num_tokens
                achieved = rate * self._flops
                values["mfu"] = achieved / self._peak_rate(achieved)
            # Read the clock again, to exclude the time of measuring the peak
            # rate.
            self._last = (step, time.monotonic())
        values["peak_memory_gib"] = costs.peak_memory() / 2**30
        self._trainer.history.add(
            "train", step, values, logs.get("learning_rate")
        )
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
            rate = costs.matmul_rate(self._config.mixed_precision)
            rate *= self._trainer.train_step.strategy.num_replicas_in_sync
            self._peak = max(self._peak, rate)
            ended = time.monotonic()
            self._measure_at = ended + (ended - started) / _MEASURING_SHARE
        self._peak = max(self._peak, achieved)
        return self._peak
