"""Finds the best step of a run, and the scores that a better step must beat.

`BestStepCallback` in loop/ evaluates the steps, and decides which is better.
This module imports no TensorFlow.

Two files contain the number of the best step. Each line of a checkpoint in the
history has the best step until then, so that a resumed run continues with it.
model.json has the newest one, by which later commands find the weights in the
folder best/.
"""

from pathlib import Path

from files import json_files
from model_folders.checkpoint_folders import BEST_FOLDER, list_checkpoint_steps
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.scores import Evaluation
from training.run_files.history import History, scores_of_line


class BestStep:
    """The step of a run whose scores are the best so far.

    `RunWeights` saves the weights of the step, and then calls `record`.

    Args:
        run_path: path of the run's folder.
        run_history: history of the run, with its evaluations.
        is_chief: whether this process writes files.

    Attributes:
        step: number of the step, None before the first evaluation.
        folder: path of the folder best/ in the run's folder, with the weights
            of the step.
    """

    def __init__(
        self, run_path: Path, run_history: History, *, is_chief: bool
    ) -> None:
        self.step = run_history.find_best_step_at(
            run_history.last_checkpoint_step
        )
        # Whether any step may be the next best one, because the weights of the
        # best step of an earlier command are missing.
        self._is_lost = False
        self.folder = run_path / BEST_FOLDER
        self._run_path = run_path
        self._model_json_file = run_path / MODEL_JSON_FILE
        self._history = run_history
        self._is_chief = is_chief

    def resume(self, checkpoint_step: int) -> None:
        """Continues with the best step that was known at a checkpoint.

        Any step may be the next best one if the weights of the best step are
        missing.

        Args:
            checkpoint_step: step of the checkpoint that was restored, 0 if none
                was.
        """
        self.step = self._history.find_best_step_at(checkpoint_step)
        if self.step is None:
            return
        saved_steps = list_checkpoint_steps(self.folder)
        if self.step not in saved_steps:
            # The run may have been killed while it linked this step.
            self.link_weights()
            saved_steps = list_checkpoint_steps(self.folder)
        # A run that was killed after a better step repeats that step.
        is_repeated = max(saved_steps, default=0) > checkpoint_step
        self._is_lost = self.step not in saved_steps and not is_repeated

    def record(self, step: int) -> None:
        """Makes a step the best one, also in model.json if the file exists.

        Raises:
            OSError: model.json cannot be read or written.
        """
        self.step = step
        self._is_lost = False
        file = self._model_json_file
        if self._is_chief and file.is_file():
            json_files.write_json(
                file, {**json_files.read_json(file), "best_step": step}
            )

    def find_evaluation(self) -> Evaluation | None:
        """Returns the evaluation of the best step, None if there is none.

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
        return Evaluation(self.step, scores_of_line(line))

    def has_this_dev_set(self) -> bool:
        """Returns whether the command's dev set is that of the best step.

        Before the first evaluation, any dev set is. After the training, an
        evaluation on another dev set must not replace the evaluation by which
        the best step was chosen.
        """
        return self.step is None or self.find_evaluation() is not None

    def link_weights(self) -> None:
        """Stores the weights only once if the run has a checkpoint of the step.

        Then the files in best/ are links to those of the checkpoint.
        """
        # Import late, so that reading the folder of a run does not load
        # TensorFlow.
        from training.run_files.checkpointer import link_checkpoint

        if self._is_chief and self.step is not None:
            link_checkpoint(self.step, self._run_path, self.folder)

    def find_evaluation_to_beat(self) -> Evaluation | None:
        """Returns the evaluation that the next best step must beat.

        Returns None if any step may be the next best one, because there is no
        evaluation of the best step, or its weights are missing.
        """
        return None if self._is_lost else self.find_evaluation()
