"""Callbacks, which run after each step, and the one that logs the losses."""

import enum
import resource
import sys
import time
from collections.abc import Mapping
from typing import TypeAlias

import tensorflow as tf

from training.config.training_config import TrainingConfig
from training.run_files.history import History

# {name: value} of one step, see `Callback.on_step`.
Logs: TypeAlias = Mapping[str, float]


class Decision(enum.Enum):
    """What a callback decides after a step.

    With several workers, each must decide after the same steps. If one of them
    decides to end the training, all end.

    Attributes:
        NONE: nothing was due, so nothing was decided. The workers do not ask
            each other.
        GO_ON: the training goes on, unless another worker ends it.
        END: the training ends.
    """

    NONE = enum.auto()
    GO_ON = enum.auto()
    END = enum.auto()


class Callback:
    """Base class of callbacks, which `Trainer.fit` calls in turn.

    Attributes:
        interval: `on_step` runs at least at each multiple of this number of
            steps, even if the Trainer runs several steps in one call. 0 =
            `on_step` does not need to run at particular steps.
    """

    interval: int = 0

    def on_train_begin(self) -> None:
        """Runs once, before all other methods. The weights are restored."""

    def find_reason_to_stop(self, step: int) -> str | None:
        """Returns why a run that resumes at `step` must not train more.

        Returns None if it may train.
        """
        return None

    def on_step(self, step: int, logs: Logs) -> Decision:
        """Runs after a step, and decides whether the training ends.

        Args:
            step: number of steps trained so far.
            logs: the loss, the terms that add up to the loss, the learning rate
                and the norm of the gradient.
        """
        return Decision.NONE


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
        """Adds losses and speed to the history, if a line is due at `step`."""
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
