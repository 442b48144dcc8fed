"""Evaluates while training, saves the best step's weights, and stops early."""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from absl import logging

from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.scores import Scores, overall_scores
from training.loop.callbacks import Callback, Decision, Logs
from training.loop.run_weights import RunWeights
from training.run_files.best_step import BestEvaluation
from training.run_files.run_folder import RunFolder

# Returns the scores of the current weights on the dev set.
Evaluate: TypeAlias = Callable[[], Scores]


class BestStepRule(NamedTuple):
    """When a training evaluates, and which step is the best.

    Attributes:
        interval: number of steps between two evaluations.
        metric: name of the metric that chooses the best step. Lower values of
            "loss" and "eval_loss" are better, higher values of others.
        patience: number of evaluations without improvement after which training
            stops. 0 = training never stops early.
    """

    interval: int
    metric: str
    patience: int = 0


class BestStepCallback(Callback):
    """Evaluates while training, saves the best weights, and stops early.

    The best weights are saved in a separate folder, and the `BestStep` of the
    run remembers their step. A resumed run continues with the scores of this
    step, unless they are of another dev set.

    Args:
        run_folder: folder of the run.
        run_weights: the weights of the run, already restored or loaded.
        evaluate: evaluates the current weights.
        rule: when to evaluate, and which step is the best.
        num_train_steps: number of the last step, which is evaluated too.
    """

    def __init__(
        self,
        run_folder: RunFolder,
        run_weights: RunWeights,
        evaluate: Evaluate,
        rule: BestStepRule,
        num_train_steps: int,
    ) -> None:
        self.interval = rule.interval
        self._rule = rule
        self._history = run_folder.history
        self._best_step = run_folder.best_step
        self._best_folder = run_folder.best_folder
        self._run_weights = run_weights
        self._evaluate = evaluate
        self._num_train_steps = num_train_steps
        is_loss = rule.metric == "loss" or rule.metric.startswith("eval_loss")
        self._sign = -1 if is_loss else 1
        # The best step of an earlier command, if its weights are missing.
        self._missing_step: int | None = None

    def on_train_begin(self) -> None:
        """Continues with the best step of a resumed run."""
        step = self._best_step.step
        if step is None:
            return
        if step not in list_checkpoint_steps(self._best_folder):
            # The run may have been killed while it linked this step.
            self._run_weights.link_best()
        steps = list_checkpoint_steps(self._best_folder)
        # A run that was killed after a better step repeats that step.
        is_repeated = max(steps, default=0) > self._run_weights.global_step
        if step not in steps and not is_repeated:
            self._missing_step = step
        if self._find_best() is None:
            logging.warning(
                "The best step so far, %d, is missing in %s or was evaluated "
                "on another dev set. The next best step replaces it.",
                step,
                self._best_folder,
            )

    def _find_best(self) -> BestEvaluation | None:
        """Returns the evaluation of the best step so far, None without one."""
        best = self._best_step.find_evaluation()
        return best if best and best.step != self._missing_step else None

    def on_step(self, step: int, logs: Logs) -> Decision:
        """Runs an evaluation if one is due at `step`, and decides by it."""
        # Also evaluate after the last step, even if its number is not a
        # multiple of `interval`.
        if step % self.interval and step != self._num_train_steps:
            return Decision.NONE
        scores = {**self._evaluate(), "global_step": step}
        best = self._find_best()
        is_best = self._is_better(scores[self._rule.metric], best)
        self._history.add_evaluation(step, scores, logs.get("learning_rate"))
        _log_evaluation(step, logs["loss"], scores, is_best=is_best)
        if is_best:
            self._run_weights.save_best()
            return Decision.GO_ON
        reason = self.find_reason_to_stop(step)
        if reason is None:
            return Decision.GO_ON
        logging.info("%s", reason)
        return Decision.END

    def _is_better(self, value: float, best: BestEvaluation | None) -> bool:
        """Returns whether a value of the metric is better than the best one."""
        if math.isnan(value):
            return False
        if best is None:
            return True
        former = best.scores[self._rule.metric]
        # The history keeps a value that is not finite as NaN.
        if math.isnan(former):
            return math.isfinite(value)
        return self._sign * (value - former) > 0

    def find_reason_to_stop(self, step: int) -> str | None:
        """Returns why training stops early at `step`, None if it goes on."""
        best = self._find_best()
        if not self._rule.patience or best is None:
            return None
        num_evaluations = (step - best.step) // self.interval
        if num_evaluations < self._rule.patience:
            return None
        return (
            f"Stopping early: the best {self._rule.metric} is still "
            f"{best.scores[self._rule.metric]}, from step {best.step}, after "
            f"{num_evaluations} more evaluations."
        )


def _log_evaluation(
    step: int, training_loss: float, scores: Scores, *, is_best: bool
) -> None:
    """Logs the overall scores of a step, and the loss of its training."""
    shown = {"training loss": training_loss, **overall_scores(scores)}
    logging.info(
        "Evaluation after step %d: %s%s",
        step,
        ", ".join(f"{name} {value:.4g}" for name, value in shown.items()),
        " (the best so far)" if is_best else "",
    )
