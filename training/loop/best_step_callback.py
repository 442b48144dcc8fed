"""Evaluates while training, and saves the weights of the best step."""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from absl import logging

from model_folders.scores import Evaluation
from training.loop.callbacks import Callback, Decision, Logs
from training.loop.run_weights import RunWeights
from training.run_files.run_folder import RunFolder

# Evaluates the current weights on the dev set.
Evaluate: TypeAlias = Callable[[], Evaluation]


class BestStepRule(NamedTuple):
    """The rule for when a training evaluates, and which step is the best.

    Attributes:
        interval: number of steps between two evaluations.
        metric: name of the metric that chooses the best step. Lower values of
            "loss" and "eval_loss" are better, higher values of others.
        patience: number of evaluations without improvement after which training
            stops. If 0, training never stops early.
    """

    interval: int
    metric: str
    patience: int = 0

    def is_better(
        self, evaluation: Evaluation, best: Evaluation | None
    ) -> bool:
        """Returns whether an evaluation is better than that of the best step.

        Args:
            evaluation: the evaluation of another step.
            best: the evaluation to beat, None if there is none.
        """
        value = self.value_of(evaluation)
        if math.isnan(value):
            return False
        if best is None:
            return True
        best_value = self.value_of(best)
        # The history keeps a value that is not finite as NaN.
        if math.isnan(best_value):
            return math.isfinite(value)
        is_loss = self.metric == "loss" or self.metric.startswith("eval_loss")
        return value < best_value if is_loss else value > best_value

    def value_of(self, evaluation: Evaluation) -> float:
        """Returns the value of the metric."""
        return evaluation.scores.overall[self.metric]


class BestStepCallback(Callback):
    """Evaluates while training, saves the best weights, and stops early.

    The best weights are saved in a separate folder, and the `BestStep` of the
    run records their step. A resumed run continues with the scores of this
    step, unless they are of another dev set.

    Args:
        run_weights: the weights to evaluate, already restored or loaded.
        run_folder: folder of the run.
        evaluate: evaluates the current weights.
        rule: when to evaluate, and which step is the best.
        num_train_steps: number of the last step, which is evaluated too.
    """

    def __init__(
        self,
        run_weights: RunWeights,
        run_folder: RunFolder,
        *,
        evaluate: Evaluate,
        rule: BestStepRule,
        num_train_steps: int,
    ) -> None:
        self.interval = rule.interval
        self._rule = rule
        self._history = run_folder.history
        self._best_step = run_folder.best_step
        self._run_weights = run_weights
        self._evaluate = evaluate
        self._num_train_steps = num_train_steps

    def on_train_begin(self) -> None:
        """Logs a warning if the next best step need not beat an earlier one."""
        step = self._best_step.step
        best = self._best_step.find_evaluation_to_beat()
        if step is not None and best is None:
            logging.warning(
                "The best step so far, %d, is missing in %s or was evaluated "
                "on another dev set. The next best step replaces it.",
                step,
                self._best_step.folder,
            )

    def on_step(self, step: int, logs: Logs) -> Decision:
        """Evaluates `step` if it is time, and decides by the scores."""
        # Also evaluate after the last step, even if its number is not a
        # multiple of `interval`.
        if step % self.interval and step != self._num_train_steps:
            return Decision.NONE
        evaluation = self._evaluate()
        best = self._best_step.find_evaluation_to_beat()
        is_best = self._rule.is_better(evaluation, best)
        self._history.add_evaluation(evaluation, logs.get("learning_rate"))
        _log_evaluation(evaluation, logs["loss"], is_best=is_best)
        if is_best:
            self._run_weights.save_best()
            return Decision.GO_ON
        reason = self.describe_reason_to_end(step)
        if reason is None:
            return Decision.GO_ON
        logging.info("%s", reason)
        return Decision.END

    def describe_reason_to_end(self, step: int) -> str | None:
        """Returns why training ends early at `step`, None if it goes on."""
        best = self._best_step.find_evaluation_to_beat()
        if not self._rule.patience or best is None:
            return None
        num_evaluations = (step - best.step) // self.interval
        if num_evaluations < self._rule.patience:
            return None
        return (
            f"Stopping early: the best {self._rule.metric} is still "
            f"{self._rule.value_of(best)}, from step {best.step}, after "
            f"{num_evaluations} more evaluations."
        )


def _log_evaluation(
    evaluation: Evaluation, training_loss: float, *, is_best: bool
) -> None:
    """Logs the overall scores of a step, and the loss of its training."""
    shown = {"training loss": training_loss, **evaluation.scores.overall}
    logging.info(
        "Evaluation after step %d: %s%s",
        evaluation.step,
        ", ".join(f"{name} {value:.4g}" for name, value in shown.items()),
        " (the best so far)" if is_best else "",
    )
