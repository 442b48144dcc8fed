"""Evaluates while training, saves the best step's weights, and stops early."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absl import logging

from modeling.checkpoints import find_checkpoint
from modeling.checkpoints.tf1 import open_tf1_checkpoint
from modeling.presets import checkpoint_steps
from training.callbacks import Callback, Logs
from training.results import format_results

if TYPE_CHECKING:
    from training.trainer import Trainer


class BestStep(Callback):
    """Evaluates while training, saves the best weights, and stops early.

    The best weights are saved in a separate folder, model.json names their
    step, and the history contains their metrics, with which a resumed run
    continues. It ignores metrics on another dev set.

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
        self.is_of_run = False
        # Metrics of the best step so far, {} before the first evaluation.
        self._best: Mapping[str, Any] = {}
        if trainer.history.best_step is not None:
            self._continue(trainer.history.best_step)

    def _continue(self, best_step: int) -> None:
        """Continues with the best step that the resumed run recorded."""
        trainer, folder = self._trainer, self._trainer.best_folder
        steps = checkpoint_steps(folder)
        best = trainer.history.best()
        if best is None or best.get(self._metric) is None:
            fault = "its metrics are of another dev set"
        elif best_step in steps:
            self._best, self.is_of_run = best, True
            self._read_weights(folder)
            return
        elif max(steps, default=0) > trainer.global_step:
            # The run was killed after a better step, which it repeats.
            fault, self._best = "it was replaced by a later step", best
        else:
            fault = "its weights are missing"
        logging.warning(
            "The best step so far, %d, in %s cannot be used: %s. The next best "
            "step replaces it.",
            *(best_step, folder, fault),
        )

    def _read_weights(self, folder: Path) -> None:
        """Raises an error if the weights in the folder are damaged.

        Damage would otherwise be found only after the training.
        """
        try:
            checkpoint = find_checkpoint(folder)
            with open_tf1_checkpoint(checkpoint) as (reader, _):
                for name in reader.get_variable_to_shape_map():
                    reader.get_tensor(name)
        except OSError as error:
            raise OSError(
                f"{error}; restore the file from a backup, or remove {folder} "
                "to choose the best step from later evaluations"
            ) from error

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
            not self._best
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
        return False

    def has_ended(self, step: int) -> bool:
        """Returns whether training stops early at `step`. Logs the reason."""
        best = self._best
        if not self._patience or not best:
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
