"""Writes the files in a run's folder, except for its checkpoints.

These files are the card, the results (`ResultFiles`), the history, and those
that model_description.py creates. This module imports no TensorFlow.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from absl import logging

from files.atomic import write_text
from model_folders.cards import file_table, model_card
from model_folders.checkpoint_folders import find_best_checkpoint
from model_folders.model_json import (
    MODEL_JSON_FILE,
    ModelJson,
    TrainingSettings,
    read_model_json,
)
from model_folders.reading.preset import Preset, create_preset_of_run
from model_folders.scores import (
    DEV_RESULTS,
    EXPORT_RESULTS,
    LABEL_SCORES,
    split_by_label,
)
from training.config.training_config import TrainingConfig
from training.run_files import model_description
from training.run_files.best_step import BestStep
from training.run_files.history import History
from training.starting_point import StartingPoint

if TYPE_CHECKING:
    from modeling.base_task_model import AnyTaskModel

# Patterns of the files that contain results of a run's weights.
_RESULT_FILES = (
    "*eval_results*.txt",
    "*predictions.*",
    "null_odds.json",
    "report*.html",
    "test_results*.tsv",
)
# Files that a command names at its end, if the run wrote them.
_SHOWN_FILES = (
    "report.html",
    "dev_predictions.csv",
    "dev_predictions.jsonl",
    "predictions.csv",
    "predictions.jsonl",
)


class RunFolder:
    """The folder --output_dir of a run. Only the chief writes to it.

    Args:
        starting_point: the flags and the tokenizer of the run.
        labels: names of the model's outputs, in order. If None, the run
            has no labels.txt.
        run_history: history of the run. `open` reads it.

    Attributes:
        path: path of the folder.
        labels: names of the model's outputs, in order, or None.
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
        self.path = Path(starting_point.config.training.output_dir)
        self.labels = labels
        self.results = ResultFiles(
            self.path, is_chief=starting_point.config.is_chief
        )
        self.history = run_history
        self.best_step = BestStep(
            self.path, run_history, is_chief=starting_point.config.is_chief
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

        Args:
            starting_point: the flags and the tokenizer of the run.
            labels: names of the model's outputs, in order. If None, the run
                has no labels.txt.
            dev_set_checksum: checksum of the dev set that the command
                evaluates, 0 without one.

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
            self.path, files, description, best_step=self.best_step.step
        )
        if self._starting_point.config.keeps_best:
            model_description.write_listed_files(
                self.best_step.folder, files, description
            )
        self.write_card(is_finished=False)
        return create_preset_of_run(str(self.path), description)

    def write_evaluation(self, step: int, scores: Mapping[str, float]) -> None:
        """Writes scores on the dev sets to the history and eval_results.txt.

        The history gets no line if the best step was chosen on other dev sets.

        Args:
            step: number of steps that trained the evaluated weights.
            scores: all scores of the dev sets in this command.
        """
        if self.best_step.has_this_dev_set():
            self.history.add_evaluation(step, scores)
        self.results.write_dev_scores(scores)

    def dev_scores_of(self, step: int) -> Mapping[str, float]:
        """Returns the scores of a step on the dev sets, {} if unknown.

        A command may evaluate the last step, and then restore the best one. The
        scores of the best step are those that it was chosen by. A command that
        evaluated nothing has no scores.

        Args:
            step: number of steps that trained the weights.
        """
        scores = self.results.dev_scores
        if not scores or scores["global_step"] == step:
            return scores
        best = self.best_step.find_evaluation()
        return best.scores if best and best.step == step else {}

    @property
    def _fixed_model_json(self) -> ModelJson | None:
        """Contents of the run's model.json, None if this command changes them.

        A command that trains changes them.
        """
        own_run = self._starting_point.own_run
        if own_run is None or self._starting_point.config.training.do_train:
            return None
        return own_run.model_json

    def find_best_checkpoint(self) -> str | None:
        """Returns the path of the best step's checkpoint, None without one."""
        return find_best_checkpoint(self.path, self._fixed_model_json)

    def write_card(
        self,
        *,
        is_finished: bool = True,
        export: str | None = None,
        table: str | None = None,
    ) -> None:
        """Writes README.md, unless the user wrote this file.

        The card contains the scores, and describes the files of a finished run.

        Args:
            is_finished: whether the run is finished.
            export: name of the exported model's folder, or None.
            table: name of the single table that the run was trained on, or
                None.
        """
        path = self.path / model_card.CARD_FILE
        if not (self.path / MODEL_JSON_FILE).is_file():
            return  # The folder contains the results of other weights.
        if path.exists() and not model_card.is_own_card(path):
            return
        tokenizer = self._starting_point.tokenizer
        card = model_card.RunCard(
            model_json=self._fixed_model_json or read_model_json(self.path),
            labels=self.labels,
            do_lower_case=tokenizer.do_lower_case if tokenizer else None,
            results=self.results.dev_scores,
            files=file_table.file_sizes(self.path) if is_finished else {},
            export=export,
            table=table,
        )
        write_text(path, card.text())


class ResultFiles:
    """The files in a run's folder that contain results of its weights.

    Args:
        folder: path of the run's folder.
        is_chief: whether this process writes files.

    Attributes:
        dev_scores: what this command wrote to eval_results.txt, which the card
            states. {} before it did.
    """

    def __init__(self, folder: Path, *, is_chief: bool) -> None:
        self.dev_scores: Mapping[str, float] = {}
        self._folder = folder
        self._is_chief = is_chief

    def write_dev_scores(self, scores: Mapping[str, float]) -> None:
        """Logs the scores on the dev sets, and writes eval_results.txt."""
        log_scores(scores)
        self.dev_scores = scores
        self._write(DEV_RESULTS, scores)

    def write_test_scores(
        self, scores: Mapping[str, float], suffix: str = ""
    ) -> None:
        """Logs the scores on a test set, and writes its file.

        Args:
            scores: scores of the predictions.
            suffix: suffix of the set's name, such as "_mm".
        """
        log_scores(scores)
        self._write(f"test_eval_results{suffix}.txt", scores)

    def write_export_scores(
        self, scores_of_format: Mapping[str, Mapping[str, float]]
    ) -> None:
        """Writes the scores of the exported files on the dev set.

        In the file, the name of a score begins with its format. Does not log
        the scores, because the table would only repeat the model's.

        Args:
            scores_of_format: {format: {name: score}}.
        """
        scores = {
            f"{format_name}_{name}": score
            for format_name, format_scores in scores_of_format.items()
            for name, score in format_scores.items()
        }
        self._write(EXPORT_RESULTS, scores)

    def _write(self, name: str, scores: Mapping[str, float]) -> None:
        """Writes `key = value` lines like Google's code, sorted by key."""
        if self._is_chief:
            lines = [f"{key} = {scores[key]}\n" for key in sorted(scores)]
            write_text(self._folder / name, "".join(lines))

    def warn_of_earlier_files(self, begin_time: float) -> None:
        """Logs a warning that names the results of earlier weights.

        Their files stay, because the user may need them.

        Args:
            begin_time: time at which this command began, as time.time().
        """
        paths = sorted(
            str(path)
            for pattern in _RESULT_FILES
            for path in self._folder.glob(pattern)
            if path.stat().st_mtime < begin_time
        )
        if paths:
            logging.warning(
                "An earlier command wrote %s, with other weights than this "
                "command trained. Move or remove what you no longer need.",
                ", ".join(paths),
            )

    def list_shown_files(self) -> list[str]:
        """Returns the paths of the reports and predictions in the folder."""
        paths = [self._folder / name for name in _SHOWN_FILES]
        return [str(path) for path in paths if path.is_file()]


def log_scores(scores: Mapping[str, float]) -> None:
    """Logs a table of scores, sorted by name."""
    table = _format_table({key: scores[key] for key in sorted(scores)})
    logging.info("***** Eval results *****\n%s", table)


def _format_table(scores: Mapping[str, float]) -> str:
    """Returns a text table of scores, followed by one row for each label."""
    overall, by_label = split_by_label(scores)
    width = max(map(len, [*overall, *by_label, "label"]))
    lines = [
        f"  {name:<{width}}  {_align_right(value)}"
        for name, value in overall.items()
    ]
    if by_label:
        lines.append(
            "  ".join(
                [f"  {'label':<{width}}", *map(_align_right, LABEL_SCORES)]
            )
        )
    for label, scores_of_label in by_label.items():
        cells = [f"{scores_of_label[name]:>9.4f}" for name in LABEL_SCORES[:-1]]
        cells.append(f"{scores_of_label['support']:>9.0f}")
        lines.append("  ".join([f"  {label:<{width}}", *cells]))
    return "\n".join(lines)


def _align_right(cell: str | float) -> str:
    return f"{cell:>9.4f}" if isinstance(cell, float) else f"{cell:>9}"
