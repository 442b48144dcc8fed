"""The best step of a run: evaluates while training, and stops early."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from absl import logging

from files import atomic, json_files
from training import summary
from training.callbacks import Callback

if TYPE_CHECKING:
    from training.trainer import Trainer


class BestStep(Callback):
    """Evaluates while training, keeps the best weights, stops early.

    The best weights and their metrics are in a folder of their own, where a
    resumed run finds them.

    Args:
        evaluate: (Trainer) -> {name: value}.
        every: steps between two evaluations.
        metric: name of the metric that decides.
        folder: folder of the best weights.
        patience: stop after this many evaluations without improvement; 0 =
            never.
    """

    def __init__(
        self,
        evaluate: Callable[["Trainer"], Mapping[str, float]],
        every: int,
        metric: str,
        folder: Path,
        patience: int = 0,
    ) -> None:
        self.every = every
        self._evaluate = evaluate
        self._metric = metric
        self._patience = patience
        self._sign = sign_of(metric)
        self._folder = folder
        # Metrics of the best checkpoint so far, kept here so that workers agree
        # even if one reads the file late.
        self._best: dict[str, float] | None = None
        if self._path.is_file():
            self._best = _read_best(self._path, metric)

    @property
    def _path(self) -> Path:
        return self._folder / "eval_results.json"

    def on_step(
        self, step: int, logs: Mapping[str, float], agreed: float
    ) -> bool:
        """Evaluates if it is due; returns whether to stop training."""
        if step % self.every:
            return False
        with self.trainer.evaluating():
            # Replaces the evaluation's own, which is the step at the start.
            results = {**self._evaluate(self.trainer), "global_step": step}
            self.trainer.history.add("eval", step, results)
            logging.info("Evaluation after step %d: %s", step, results)
            if self._is_best(results):
                self._best = results
                text = json_files.format_json(
                    summary.finite(results), str(self._path), indent=2
                )
                files = {self._path.name: f"{text}\n"}
                self.trainer.weights_in(self._folder).save(step, files)
                if self.trainer.is_chief:
                    atomic.write_text(self._path, files[self._path.name])
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


def sign_of(metric: str) -> int:
    """Returns 1 for a metric whose higher values are better, -1 for a loss."""
    is_loss = metric == "loss" or metric.startswith("eval_loss")
    return -1 if is_loss else 1


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
