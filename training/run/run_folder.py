"""Writes what a run's folder contains beside its checkpoints.

These files are model.json, the configuration and the vocabulary, the card, the
scores and the history. This module imports no TensorFlow.
"""

import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from absl import logging

from command_line.flags import Role
from command_line.path_flags import STATE
from files import json_files
from files.atomic import write_bytes, write_json, write_text
from model_folders import kinds, model_json, presets
from model_folders.cards import cards
from model_folders.checkpoint_folders import BEST, checkpoint_steps, find_best
from model_folders.labels import LABELS_FILE, format_labels
from model_folders.model_entries import (
    HeadSettings,
    ModelJson,
    TrainingSettings,
)
from model_folders.model_json import FILE
from model_folders.results import format_results
from model_folders.tokenizer_files import create_vocab_files
from training.run import history
from training.run.history import History
from training.run.resuming import flag_values
from training.start import StartingPoint
from training.training_config import TrainingConfig

if TYPE_CHECKING:
    from modeling.task_models import TaskModel

# Patterns of the files that contain results of a run's weights.
_RESULTS = (
    "*eval_results*.txt",
    "*predictions.*",
    "null_odds.json",
    "report*.html",
    "test_results*.tsv",
)
# Files that a command names at its end, if the run wrote them.
_SHOWN = (
    "report.html",
    "dev_predictions.csv",
    "dev_predictions.jsonl",
    "predictions.csv",
    "predictions.jsonl",
)


class RunFolder:
    """The folder --output_dir of a run. Only the chief writes to it.

    Args:
        start: what the run starts from.
        labels: names of the model's outputs, in order. None = write no
            labels.txt.
        run_history: history of the run. `open` reads it.

    Attributes:
        path: path of the folder.
        best: path of the folder with the best step's weights.
        state: path of the folder with the records and TensorBoard's events.
        labels: names of the model's outputs, in order, or None.
        tokenizer: tokenizer of the texts, or None if it is unknown.
        history: metrics, steps and hours of the run.
        current_preset: Preset of the current weights, None if they are random.
            It is the Preset of the start until `write_description` runs.
        results: what this command wrote to eval_results.txt, or None.
    """

    def __init__(
        self,
        start: StartingPoint[TrainingConfig],
        labels: Sequence[str] | None,
        run_history: History,
    ) -> None:
        self.path = Path(start.config.training.output_dir)
        self.best = self.path / BEST
        self.state = self.path / STATE
        self.labels = labels
        self.tokenizer = start.tokenizer
        self.current_preset = start.preset
        self.results: Mapping[str, float] | None = None
        self.history = run_history
        self._start = start
        self._settings: TrainingSettings | None = None

    @classmethod
    def open(
        cls,
        start: StartingPoint[TrainingConfig],
        labels: Sequence[str] | None = None,
    ) -> Self:
        """Opens the folder of a new or an earlier run, and reads its history.

        The arguments are those of the class.

        Raises:
            ValueError: a line of the history is malformed.
            OSError: the history cannot be read.
        """
        path = Path(start.config.training.output_dir)
        run_history = History.read(
            start.config, path / history.FILE, path / STATE
        )
        return cls(start, labels, run_history)

    def record(self, settings: TrainingSettings, dev_set: int) -> None:
        """Sets the values to record with the run's weights and evaluations.

        Args:
            settings: result of `resuming.settings_to_record`.
            dev_set: checksum of the dev set. Results with equal checksums may
                be compared.
        """
        self._settings = settings
        self.history.dev_set = dev_set

    def write_description(self, model: "TaskModel") -> None:
        """Writes the files that describe the weights which training changes.

        Raises:
            ValueError: files in the folder describe another model.
            OSError: a file cannot be written.
        """
        config = self._start.config
        if not config.is_chief or self._settings is None:
            return
        texts = {"bert_config.json": model.config.to_json_string().encode()}
        if self.tokenizer:
            longest = model.config.max_position_embeddings
            texts |= create_vocab_files(self.tokenizer, longest)
        if self.labels is not None:
            texts[LABELS_FILE] = format_labels(self.labels).encode()
        description = create_model_json(self._start, model, self._settings)
        # The best step is the last entry, as `set_best_step` writes it.
        step = self.history.best_step
        last: ModelJson = (
            {} if step is None else {"files": [], "best_step": step}
        )
        _write_files(self.path, texts, description | last)
        if config.keeps_best:
            _write_files(self.best, texts, description)
        self.current_preset = presets.preset_of_run(str(self.path), description)
        self.write_card(is_finished=False)

    @property
    def _fixed_model_json(self) -> ModelJson | None:
        """Contents of the run's model.json, None if this command changes them.

        A command that trains changes them.
        """
        is_fixed = not self._start.config.training.do_train
        preset = self.current_preset
        if is_fixed and preset and preset.is_own_run:
            return preset.model_json
        return None

    def find_best(self) -> str | None:
        """Returns the path of the best step's checkpoint, None without one."""
        return find_best(self.path, self._fixed_model_json)

    def set_best_step(self, step: int) -> None:
        """Names the step of the run's best weights in its model.json."""
        file = self.path / FILE
        if self._start.config.is_chief and file.is_file():
            write_json(file, {**json_files.read_json(file), "best_step": step})

    def log_results(self, results: Mapping[str, float]) -> None:
        """Logs a table of scores, sorted by name."""
        table = format_results({key: results[key] for key in sorted(results)})
        logging.info("***** Eval results *****\n%s", table)

    def write_results(self, name: str, results: Mapping[str, float]) -> None:
        """Writes `key = value` lines like Google's code, and logs a table.

        Args:
            name: name of the file.
            results: {name: score}.

        Raises:
            OSError: the file cannot be written.
        """
        ordered = {key: results[key] for key in sorted(results)}
        # The table of an export would only repeat the model's.
        if not name.startswith("export"):
            self.log_results(ordered)
        if name == "eval_results.txt":
            self.results = results
        if self._start.config.is_chief:
            lines = [f"{key} = {value}\n" for key, value in ordered.items()]
            write_text(self.path / name, "".join(lines))

    def write_card(
        self,
        is_finished: bool = True,
        export: str | None = None,
        table: str | None = None,
    ) -> None:
        """Writes README.md, unless the user wrote this file.

        It contains the scores, and describes the files of a finished run.

        Args:
            is_finished: whether the run is finished.
            export: name of the exported model's folder, or None.
            table: name of the single table that the run was trained on, or
                None.

        Raises:
            OSError: the file cannot be written.
        """
        path = self.path / cards.FILE
        model = self.path / FILE
        if not model.is_file():
            return  # The folder contains the results of other weights.
        if path.exists() and not cards.is_own_card(path):
            return
        casing = self.tokenizer.do_lower_case if self.tokenizer else None
        card = cards.Card(
            kind=cards.RUN,
            description=self._fixed_model_json or json_files.read_json(model),
            labels=self.labels,
            do_lower_case=casing,
            results=self.results or {},
            files=cards.file_sizes(self.path) if is_finished else {},
            export=export,
            table=table,
        )
        write_text(path, card.text())

    def warn_of_earlier_results(self, began: float) -> None:
        """Names results in the folder that are of earlier weights.

        They stay, because they may be the user's.

        Args:
            began: time at which this command began, as time.time().
        """
        paths = sorted(
            str(path)
            for pattern in _RESULTS
            for path in self.path.glob(pattern)
            if path.stat().st_mtime < began
        )
        if paths:
            logging.warning(
                "An earlier command wrote %s, with other weights than this "
                "command trained. Move or remove what you no longer need.",
                ", ".join(paths),
            )

    def list_shown_files(self) -> list[str]:
        """Returns the paths of the reports and predictions in the folder."""
        paths = [self.path / name for name in _SHOWN]
        return [str(path) for path in paths if path.is_file()]


def create_model_json(
    start: StartingPoint[TrainingConfig],
    model: "TaskModel",
    settings: TrainingSettings,
) -> ModelJson:
    """Returns the contents of a run's model.json.

    Args:
        start: what the run starts from.
        model: the model.
        settings: result of `resuming.settings_to_record`.
    """
    head = flag_values(start.config, Role.HEAD, Role.DECODING)
    # A setting may be the value that the task chose for the flag.
    chosen: Mapping[str, object] = settings
    head |= {name: chosen[name] for name in head.keys() & chosen.keys()}
    return {
        "version": model_json.VERSION,
        "task": cast("HeadSettings", {"name": kinds.kind_of(model), **head}),
        "origin": {
            "script": start.script,
            "command": start.command,
            "settings": settings,
            "versions": {
                "python": platform.python_version(),
                "keras": metadata.version("keras"),
                "tensorflow": metadata.version("tensorflow"),
            },
        },
    }


def _write_files(
    folder: Path, texts: Mapping[str, bytes], description: ModelJson
) -> None:
    """Writes {name: contents} and the description of model.json.

    A user's own files are not replaced.
    """
    former = folder / FILE
    listed = []
    if former.is_file():
        listed = json_files.read_json(former).get("files")
        # The list of a run's folder contains no weights and no exports.
        weights = re.compile(r".*\.(index|safetensors|tflite|onnx)")
        if listed is None or any(
            weights.fullmatch(str(name)) for name in listed
        ):
            raise ValueError(
                f"--output_dir={folder} contains a {FILE} that no run in this "
                "folder wrote; choose another --output_dir"
            )
    ours = {*map(str, listed)}
    for name, text in texts.items():
        path = folder / name
        is_left = name in ours and not checkpoint_steps(folder)
        if is_left or not path.is_file():
            write_bytes(path, text)
            ours.add(name)
        elif not _is_same(path, text):
            raise ValueError(
                f"{path} does not describe the model that this command would "
                "train; choose another --output_dir"
            )
    write_json(former, {**description, "files": sorted(ours)})


def _is_same(path: Path, text: bytes) -> bool:
    former_text = path.read_bytes()
    if path.suffix != ".json":
        return former_text == text
    # Compare only the entries of `text`. If another program saved the file, it
    # may contain more entries and a different model_max_length.
    former = json_files.parse_json(former_text, str(path))
    entries = json_files.parse_json(text, path.name)
    entries.pop("model_max_length", None)
    return all(
        former.get(name, value) == value for name, value in entries.items()
    )
