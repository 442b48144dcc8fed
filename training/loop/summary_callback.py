"""Adds the losses, the speed and the memory of a training to its history."""

import resource
import sys
import time

import tensorflow as tf

from training.config.training_config import TrainingConfig
from training.loop.callbacks import Callback, Decision, Logs
from training.run_files.history import History


class SummaryCallback(Callback):
    """Adds losses, speed and memory to the run's history.

    A training of few steps gets about ten lines too, so that it has a curve.
    """

    def __init__(
        self, history: History, config: TrainingConfig, num_train_steps: int
    ) -> None:
        self._history = history
        self._config = config
        tenth = max(num_train_steps // 10, 1)
        self.interval = min(config.training.summary_steps, tenth)
        # Step and time of the last line.
        self._last: tuple[int, float] | None = None

    def on_step(self, step: int, logs: Logs) -> Decision:
        """Adds losses and speed to the history, if it is time for a line."""
        if self._last is None:
            # Ignore the speed of the first step, whose time includes start-up.
            self._last = (step, time.monotonic())
        if step % self.interval:
            return Decision.NONE
        values = dict(logs)
        before, begin_time = self._last
        if step > before:
            seconds = max(time.monotonic() - begin_time, 1e-9)
            num_examples = (step - before) * self._config.batch_size
            values["examples_per_second"] = num_examples / seconds
            self._last = (step, time.monotonic())
        values["peak_memory_gib"] = _measure_peak_memory() / 2**30
        self._history.add_training(step, values, logs.get("learning_rate"))
        return Decision.NONE


def _measure_peak_memory() -> int:
    """Returns the peak bytes of the first GPU, or else of this process."""
    if tf.config.list_physical_devices("GPU"):
        memory: dict[str, int] = tf.config.experimental.get_memory_info("GPU:0")
        return memory["peak"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
