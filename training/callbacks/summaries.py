"""Reports losses, speed and memory in the history and the log."""

import time
from typing import TYPE_CHECKING

from absl import logging

from training import costs
from training.callbacks import Callback, Logs

if TYPE_CHECKING:
    from training.trainer import Trainer


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
        self._num_tokens = self._flops = self._peak = 0.0
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
                rate = costs.matmul_rate(self._config.mixed_precision)
                strategy = self._trainer.train_step.strategy
                self._peak = rate * strategy.num_replicas_in_sync
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
                # On a busy machine, the measured peak rate is too low.
                self._peak = max(self._peak, achieved)
                values["mfu"] = achieved / self._peak
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
