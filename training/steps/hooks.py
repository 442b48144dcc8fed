"""Hooks that run every N steps of training: summaries, evaluation."""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from absl import logging

from files import atomic, json_files
from training import batch_sizes, costs
from training.outputs import checkpointing, summary
from training.outputs.history import History

# Maximum fraction of time for measuring the machine's peak rate.
_MEASURING_SHARE = 0.01


class Hook(Protocol):
    """Runs after a step of training, see Trainer.train."""

    def __call__(self, step: int, logs: Mapping[str, float]) -> bool | None:
        """Receives a step's number and logs; True ends the training."""


@runtime_checkable
class PeriodicHook(Hook, Protocol):
    """A Hook that sees each multiple of a number of steps.

    Attributes:
        every: calls of several steps never skip a multiple of it.
    """

    every: int


class Summaries:
    """Adds losses and rates to the run's history, and logs them.

    Args:
        every: steps between two entries.
        sizes: examples in each step.
        tokens: WordPieces in an example, with padding; None if it varies.
        flops: floating point operations of an example's matrix products; None
            if they vary.
        precision: of the products, to compare with the peak rate.
        num_replicas: devices that share a step.
        history: the run's history.
    """

    def __init__(
        self,
        every: int,
        sizes: batch_sizes.BatchSizes,
        tokens: int | None,
        flops: float | None,
        precision: str,
        num_replicas: int,
        history: History,
    ) -> None:
        self.every = every
        self._sizes = sizes
        self._per_example = {"examples": 1}
        if tokens is not None:
            self._per_example["tokens"] = tokens
        self._flops = flops
        self._peak = None
        if flops is not None:
            self._peak = PeakRate(
                lambda: costs.matmul_rate(precision) * num_replicas
            )
        self._history = history
        self._last: tuple[int, float] | None = None

    def __call__(self, step: int, logs: Mapping[str, float]) -> None:
        """Writes the entries of a step, if due."""
        if self._last is None:
            # The first step's time includes start-up, so its rate is left out.
            self._last = (step, time.monotonic())
        if step % self.every:
            return
        values = dict(logs)
        before, began = self._last
        seconds = time.monotonic() - began
        if step > before:
            examples = self._sizes.examples(step) - self._sizes.examples(before)
            rate = examples / max(seconds, 1e-9)
            for name, count in self._per_example.items():
                values[f"{name}_per_second"] = rate * count
            if self._flops is not None and self._peak is not None:
                achieved = rate * self._flops
                values["mfu"] = achieved / self._peak.update(achieved)
            # Read after measuring the peak rate, which is not part of a step.
            self._last = (step, time.monotonic())
        values["peak_memory_gib"] = costs.peak_memory() / 2**30
        self._history.add("train", step, values)
        logging.info(
            "Step %d: %s",
            step,
            ", ".join(f"{name} {value:.4g}" for name, value in values.items()),
        )


class PeakRate:
    """The best rate of matrix products seen so far, in operations a second.

    A machine that is busy while its rate is measured looks slower than it is,
    so the rate is measured again while training.

    Args:
        measure: () -> the rate at this moment.
    """

    def __init__(self, measure: Callable[[], float]) -> None:
        self._measure = measure
        self._best = 0.0
        self._next = -math.inf
        self.update()

    def update(self, achieved: float = 0.0) -> float:
        """Returns the best rate, measuring again after some time.

        Args:
            achieved: the training's own rate.
        """
        started = time.monotonic()
        if started >= self._next:
            self._best = max(self._best, self._measure())
            ended = time.monotonic()
            self._next = ended + (ended - started) / _MEASURING_SHARE
        self._best = max(self._best, achieved)
        return self._best


class Evaluation:
    """Evaluates while training, keeps the best checkpoint, stops early.

    The best checkpoint and its metrics are in the run's folder `best`, where a
    resumed run finds them.

    Args:
        evaluate: () -> {name: figure}.
        every: steps between two evaluations.
        metric: name of the metric that decides.
        checkpointer: writes into the `best` folder.
        patience: stop after this many evaluations without improvement; 0 =
            never.
        higher_is_better: whether higher values are better.
    """

    def __init__(
        self,
        evaluate: Callable[[], Mapping[str, float]],
        every: int,
        metric: str,
        checkpointer: checkpointing.Checkpointer,
        patience: int = 0,
        higher_is_better: bool = True,
    ) -> None:
        self._evaluate = evaluate
        self.every = every
        self._metric = metric
        self._checkpointer = checkpointer
        self._patience = patience
        self._sign = 1 if higher_is_better else -1
        self._path = Path(checkpointer.output_dir) / "eval_results.json"
        # Metrics of the best checkpoint so far, kept here so that workers agree
        # even if one reads the file late.
        self._best: dict[str, float] | None = None
        if self._path.is_file():
            self._best = _read_best(self._path, metric)

    def __call__(self, step: int, logs: Mapping[str, float]) -> bool:
        """Evaluates if it is due; returns whether to stop training."""
        del logs
        if step % self.every:
            return False
        # Replaces the evaluation's own, which is the step at the start.
        results = dict(self._evaluate()) | {"global_step": step}
        logging.info("Evaluation after step %d: %s", step, results)
        if self._is_best(results):
            self._best = results
            self._checkpointer.save(step)
            if self._checkpointer.is_chief:
                atomic.write_json(self._path, summary.finite(results))
            return False
        return self.has_ended(step)

    def has_ended(self, step: int) -> bool:
        """Returns whether a run at `step` should have stopped early."""
        best = self._best
        if not self._patience or best is None:
            return False
        waited = (step - best["global_step"]) // self.every
        if waited < self._patience:
            return False
        logging.info(
            "Stopping early: %s has not improved on %s, of step %d, in %d "
            "evaluations.",
            self._metric,
            best[self._metric],
            best["global_step"],
            waited,
        )
        return True

    def _is_best(self, results: Mapping[str, float]) -> bool:
        value = results[self._metric]
        if math.isnan(value):
            logging.warning(
                "%s is not a number, so this evaluation counts as the worst.",
                self._metric,
            )
            return False
        if self._best is None:
            return True
        return self._sign * (value - self._best[self._metric]) > 0


def _read_best(path: Path, metric: str) -> dict[str, float]:
    """Reads the metrics of the best evaluation so far.

    Raises:
        ValueError: the file does not hold them.
    """
    try:
        best = json_files.read_json(path)
        for name in (metric, "global_step"):
            if not isinstance(best.get(name), (int, float)):
                raise ValueError(f"{path} has no number {name!r}")
    except ValueError as error:
        raise ValueError(
            f"{error}; restore it from a backup, or remove {path.parent} to "
            "look for the best step among later ones"
        ) from error
    return best
