"""Writes the files in a run's folder, except for its checkpoints.

`RunFolder` writes the card and the files of model_description.py, and holds
what writes the others: the results, the history and the best step. This module
imports no TensorFlow.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from files.atomic import write_text
from model_folders.cards import file_table, model_card
from model_folders.checkpoint_folders import find_best_checkpoint
from model_folders.model_json import MODEL_JSON_FILE, ModelJson, read_model_json
from model_folders.reading.preset import Preset, create_preset_of_run
from model_folders.scores import Evaluation, Scores
from model_folders.training_settings import TrainingSettings
from training.config.training_config import TrainingConfig
from training.run_files import model_description
from training.run_files.best_step import BestStep
from training.run_files.history import History
from training.run_files.result_files import ResultFiles
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel


class RunFolder:
    """The folder --output_dir of a run. Only the chief writes to it.

    Args:
        starting_point: the flags and the tokenizer of the run.
        labels: names of the model's outputs, in order. If None, the run
            has no labels.txt.
        run_history: history of the run. `open` reads it.

    Attributes:
        output_dir: path of the folder.
        labels: the argument.
        history: metrics, steps and hours of the run.
        best_step: the step of the run with the best scores, and its folder.
        results: the files of the scores, reports and predictions.
    """

    def __init__(
        self,
        starting_point: StartingPoint[TrainingConfig],
        labels: Sequence[str] | None,
        run_history: History,
    ) -> None:
        self.output_dir = Path(starting_point.config.training.output_dir)
        self.labels = labels
        self.results = ResultFiles(
            self.output_dir, is_chief=starting_point.config.is_chief
        )
        self.history = run_history
        self.best_step = BestStep(
            self.output_dir,
            run_history,
            is_chief=starting_point.config.is_chief,
        )
        self._starting_point = starting_point

    @classmethod
    def open(
        cls,
        starting_point: StartingPoint[TrainingConfig],
        labels: Sequence[str] | None = None,
        *,
        dev_set_checksum: int = 0,
    ) -> Self:
        """Opens the folder of a new or an earlier run, and reads its history.

        The arguments are those of the class and of `History`.

        Raises:
            ValueError: a line of the history is malformed.
            OSError: the history cannot be read.
        """
        run_history = History.read(
            starting_point.config, dev_set_checksum=dev_set_checksum
        )
        return cls(starting_point, labels, run_history)

    def resume(self, checkpoint_step: int) -> None:
        """Lets the history and the best step go on from a checkpoint.

        Args:
            checkpoint_step: step of the checkpoint that was restored, 0 if none
                was.
        """
        self.history.resume(checkpoint_step)
        self.best_step.resume(checkpoint_step)

    def write_description_and_card(
        self, model: "AnyTaskModel", training_settings: TrainingSettings
    ) -> Preset:
        """Describes the weights that a training is about to change.

        Writes model.json, the files that it lists, and the card. Only the chief
        calls this method.

        Args:
            model: the model to train, of which the configuration is written.
            training_settings: result of `create_training_settings`.

        Returns:
            the Preset of these files.

        Raises:
            ValueError: files in the folder describe another model.
            OSError: a file cannot be written.
        """
        files = model_description.create_listed_files(
            model, self._starting_point.tokenizer, self.labels
        )
        description = model_description.create_model_json(
            self._starting_point, model, training_settings
        )
        model_description.write_listed_files(
            self.output_dir, files, description, best_step=self.best_step.step
        )
        if self._starting_point.config.keeps_best:
            model_description.write_listed_files(
                self.best_step.folder, files, description
            )
        self.write_card(Scores(), is_finished=False)
        return create_preset_of_run(str(self.output_dir), description)

    def write_evaluation(self, evaluation: Evaluation) -> None:
        """Writes scores on the dev sets to the history and eval_results.txt.

        The history gets no line if the best step was chosen on other dev sets.

        Args:
            evaluation: all scores of the dev sets in this command.
        """
        if self.best_step.has_this_dev_set():
            self.history.add_evaluation(evaluation)
        self.results.write_dev_scores(evaluation)

    def find_dev_scores(
        self, step: int, evaluation: Evaluation | None
    ) -> Scores:
        """Returns the scores of a step on the dev sets, empty if unknown.

        A command may evaluate the last step, and then restore the best one. The
        scores of the best step are those that it was chosen by. A command that
        evaluated nothing has no scores.

        Args:
            step: number of steps that trained the weights.
            evaluation: the evaluation of this command, None if it evaluated
                nothing.
        """
        if evaluation is None:
            return Scores()
        if evaluation.step == step:
            return evaluation.scores
        best_evaluation = self.best_step.find_evaluation()
        if best_evaluation and best_evaluation.step == step:
            return best_evaluation.scores
        return Scores()

    @property
    def _model_json_unless_training(self) -> ModelJson | None:
        """Contents of the run's model.json, None while training.

        A command that trains replaces them.
        """
        run_preset = self._starting_point.run_preset
        if run_preset is None or self._starting_point.config.training.do_train:
            return None
        return run_preset.model_json

    def find_best_checkpoint(self) -> str | None:
        """Returns the path of the best step's checkpoint, None if missing."""
        return find_best_checkpoint(
            self.output_dir, self._model_json_unless_training
        )

    def write_card(
        self,
        dev_scores: Scores,
        *,
        is_finished: bool = True,
        export: str | None = None,
        table: str | None = None,
    ) -> None:
        """Writes README.md about the weights in this folder.

        The card contains the scores, and describes the files of a finished run.
        The method writes nothing if the user wrote README.md, or if the folder
        contains only results of weights in another folder.

        Args:
            dev_scores: the scores that this command computed, empty if it has
                evaluated nothing.
            is_finished: whether the run is finished.
            export: name of the exported model's folder, or None.
            table: name of the single table that the run was trained on, or
                None.
        """
        if not (self._has_weights_of_run() and self._may_replace_card()):
            return
        tokenizer = self._starting_point.tokenizer
        card = model_card.RunCard(
            model_json=self._model_json_unless_training
            or read_model_json(self.output_dir),
            labels=self.labels,
            do_lower_case=tokenizer.do_lower_case if tokenizer else None,
            results=dev_scores,
            files=file_table.file_sizes(self.output_dir) if is_finished else {},
            export=export,
            table=table,
        )
        write_text(self._card_path, card.text())

    def _has_weights_of_run(self) -> bool:
        """Returns whether the folder is that of the weights.

        Without model.json, it contains the results of other weights.
        """
        return (self.output_dir / MODEL_JSON_FILE).is_file()

    def _may_replace_card(self) -> bool:
        """Returns whether README.md is missing, or not written by the user."""
        path = self._card_path
        return not path.exists() or model_card.is_own_card(path)

    @property
    def _card_path(self) -> Path:
        return self.output_dir / model_card.CARD_FILE
