"""Remembers the best step of a run, and writes its number where it is read.

Two files contain the number. Each line of a checkpoint in the history has the
best step until then, so that a resumed run continues with it. model.json has
the newest one, by which later commands find the weights in the folder best/.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from files import json_files
from model_folders.model_json import MODEL_JSON_FILE
from training.run_files.history import History


class BestEvaluation(NamedTuple):
    """The evaluation of the best step.

    Attributes:
        step: number of the step.
        scores: {name: score}. A score of an earlier command that was not
            finite is NaN.
    """

    step: int
    scores: Mapping[str, float]


class BestStep:
    """The step of a run whose scores are the best so far.

    All others ask this object: `BestStepCallback` decides which step is the
    best, and `RunWeights` saves the weights of this step.

    Args:
        folder: path of the run's folder.
        run_history: history of the run, with its evaluations.
        is_chief: whether this process writes files.

    Attributes:
        step: number of the step, None before the first evaluation.
    """

    def __init__(
        self, folder: Path, run_history: History, *, is_chief: bool
    ) -> None:
        self.step: int | None = None
        self._model_json_file = folder / MODEL_JSON_FILE
        self._history = run_history
        self._is_chief = is_chief
        self.restore(run_history.last_checkpoint_step)

    def restore(self, checkpoint_step: int) -> None:
        """Continues with the best step that was known at a checkpoint."""
        self.step = self._history.find_best_step_at(checkpoint_step)

    def set(self, step: int) -> None:
        """Replaces the best step, also in model.json if the file exists.

        Raises:
            OSError: model.json cannot be read or written.
        """
        self.step = step
        file = self._model_json_file
        if self._is_chief and file.is_file():
            json_files.write_json(
                file, {**json_files.read_json(file), "best_step": step}
            )

    def find_evaluation(self) -> BestEvaluation | None:
        """Returns the evaluation of the best step, None without one.

        An evaluation on another dev set than that of the command does not
        count.
        """
        if self.step is None:
            return None
        line = self._history.find_evaluation(self.step)
        if line is None:
            return None
        if line.get("dev_set") != self._history.dev_set_checksum:
            return None
        scores = {
            name: math.nan if value is None else value
            for name, value in line["metrics"].items()
        }
        return BestEvaluation(self.step, scores)

    def has_this_dev_set(self) -> bool:
        """Returns whether the command's dev set is that of the best step.

        Every dev set is before the first evaluation. After the training, an
        evaluation on any other dev set must not replace the one that the best
        step was chosen by.
        """
        return self.step is None or self.find_evaluation() is not None
