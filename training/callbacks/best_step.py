"""Evaluates while training, saves the best step's weights, and stops early."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absl import logging

from files import atomic, json_files
from modeling.checkpoints import find_checkpoint
from modeling.checkpoints.folders import find_fault, find_missing_best
from modeling.checkpoints.tf1 import open_tf1_checkpoint
from training import fingerprints
from training.callbacks import Callback, Logs
from training.results import format_results
from training.run_folder import RunFolder

if TYPE_CHECKING:
    from training.trainer import Trainer

_FILE = "eval_results.json"
_ADVICE = (
    "; restore the file from a backup, or remove {} to choose the best step "
    "from later evaluations"
)


class BestStep(Callback):
    """Evaluates while training, saves the best weights, and stops early.

    The best weights and their metrics are saved in a separate folder, from
    which a resumed run reads them. Metrics on another dev set, or metrics of an
    earlier run in the same folder, are ignored.

    Args:
        trainer: the Trainer of the run, which has restored its weights.
        evaluate: function (Trainer) -> {name of a metric: value}.
        every: number of steps between two evaluations.
        metric: name of the metric that chooses the best step.
        patience: number of evaluations without improvement after which training
            stops. 0 = training never stops early.

    Attributes:
        is_of_run: whether this run wrote the weights in the folder.
    """

    def __init__(
        self,
        trainer: "Trainer",
        evaluate: Callable[["Trainer"], Mapping[str, float]],
        every: int,
        metric: str,
        patience: int = 0,
    ) -> None:
        self.every = every
        self._trainer, self._evaluate = trainer, evaluate
        self._metric, self._patience = metric, patience
        self._sign = sign_of(metric)
        self._folder = trainer.run.best
        self._path = self._folder / _FILE
        # Metrics of the best step so far. They are kept in memory, so that all
        # workers use the same metrics even if one worker reads the file late.
        self._best: dict[str, Any] | None = None
        if self._path.is_file():
            self._best = _read_best(self._path, metric)
        fault = _find_fault(self._folder, trainer.settings, trainer.global_step)
        self.is_of_run = not fault
        if self._best and not fault:
            if self._best.get("fingerprint") == trainer.fingerprint:
                self._read_weights()
            else:
                fault = f"{self._path} contains metrics of another dev set"
        if fault:
            logging.warning("%s; the next best step overwrites best/.", fault)
            # Start from the best evaluation in the history, so that a worse
            # step does not become the best.
            best = trainer.history.best() or {}
            self._best = best if best.get(metric) is not None else None

    def _read_weights(self) -> None:
        """Raises an error if the weights in the folder are damaged.

        Damage would otherwise be found only after the training.
        """
        try:
            checkpoint = find_checkpoint(self._folder)
            with open_tf1_checkpoint(checkpoint) as (reader, _):
                for name in reader.get_variable_to_shape_map():
                    reader.get_tensor(name)
        except OSError as error:
            raise OSError(f"{error}{_ADVICE.format(self._folder)}") from error

    def on_step(self, step: int, logs: Logs) -> bool:
        """Runs an evaluation if one is due at `step`.

        Returns True if training should stop.
        """
        trainer = self._trainer
        # Also evaluate after the last step, even if its number is not a
        # multiple of `every`.
        if step % self.every and step != trainer.num_train_steps:
            return False
        results = {**self._evaluate(trainer), "global_step": step}
        value = results[self._metric]
        is_best = not math.isnan(value) and (
            self._best is None
            or self._sign * (value - self._best[self._metric]) > 0
        )
        rate = logs.get("learning_rate")
        trainer.history.add("eval", step, results, rate, is_best)
        figures = {k: v for k, v in results.items() if k != "global_step"}
        shown = format_results(figures)
        logging.info("Evaluation after step %d\n%s", step, shown)
        if math.isnan(value):
            logging.warning(
                "%s is NaN, so this evaluation counts as the worst.",
                self._metric,
            )
        if not is_best:
            return self.has_ended(step)
        self._best, self.is_of_run = results, True
        trainer.save_best(step)
        if trainer.is_chief:
            # JSON cannot express NaN and infinity.
            finite = {
                name: figure if math.isfinite(figure) else None
                for name, figure in results.items()
            }
            fingerprint = {"fingerprint": trainer.fingerprint}
            atomic.write_json(self._path, finite | fingerprint)
        return False

    def has_ended(self, step: int) -> bool:
        """Returns whether training stops early at `step`. Logs the reason."""
        best = self._best
        if not self._patience or best is None:
            return False
        waited = (step - best["global_step"]) // self.every
        if waited < self._patience:
            return False
        logging.info(
            "Stopping early: the best %s is still %s, from step %d, after %d "
            "more evaluations.",
            self._metric,
            best[self._metric],
            best["global_step"],
            waited,
        )
        return True


def sign_of(metric: str) -> int:
    """Returns 1 if higher values of a metric are better, else -1."""
    is_loss = metric == "loss" or metric.startswith("eval_loss")
    return -1 if is_loss else 1


def may_use(run: RunFolder, settings: Mapping[str, Any]) -> bool:
    """Returns whether this run wrote the weights in best/. If not, warns.

    If you delete the checkpoints of a run and train again, best/ still contains
    the earlier run's weights. Also warns if the weights in best/ are missing.

    Args:
        run: folder of the run.
        settings: settings of the run, {} if unknown.

    Raises:
        ValueError: a file of the run is damaged.
    """
    newest = max(run.steps, default=0)
    fault = _find_fault(run.best, settings, newest)
    if reason := fault or find_missing_best(run.path, newest):
        logging.warning("%s; using the run's last step instead.", reason)
    return not fault


def _find_fault(
    folder: Path, settings: Mapping[str, Any], newest: int
) -> str | None:
    """Returns a message if another run wrote the best weights, else None.

    `newest` is the step of the run's newest checkpoint.
    """
    path = folder / _FILE
    best = _read_best(path) if path.is_file() else {}
    if best and settings:
        found = best.get("fingerprint", {}).get("run")
        if found != fingerprints.fingerprint_of(settings, {})["run"]:
            return f"{folder} is from a run with other settings"
    return find_fault(folder.parent, newest)


def _read_best(path: Path, *metrics: str) -> dict[str, Any]:
    """Reads the metrics of the best step.

    The file must contain a number for each name in `metrics`.
    """
    try:
        best = json_files.read_json(path)
        for name in (*metrics, "global_step"):
            if not isinstance(best.get(name), (int, float)):
                raise ValueError(f"{path} contains no number for {name!r}")
    except ValueError as error:
        raise ValueError(f"{error}{_ADVICE.format(path.parent)}") from error
    return best
