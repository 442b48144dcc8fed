"""Writes and reads the history of a training run: metrics, steps and times.

The file history.jsonl in the run's folder contains one JSON object per line:

    {"kind": "eval", "step": 2000, "hours": 0.07, "examples": 128000,
     "learning_rate": 0.0019, "metrics": {"loss": 5.2, ...}}

`kind` is "train" for the losses of a step, "eval" for an evaluation, and
"checkpoint" for a save, from which a resumed run reads the hours trained. The
line of an evaluation also contains a checksum of its dev set, `dev_set`.

A resumed run drops the lines after its checkpoint and writes them again, so
each step has at most one line of each kind. TensorBoard shows the same metrics,
with the prefix `eval/` for evaluations. This module imports no TensorFlow.
"""

import contextlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NotRequired, Self, TypeAlias, TypedDict, cast

from files import atomic, json_files
from files.typed_dict_checks import find_malformed_entry
from model_folders.scores import Evaluation, Scores, parse_scores
from training.config.training_config import TrainingConfig
from training.run_files.tensorboard_writer import TensorboardWriter

HISTORY_FILE = "history.jsonl"
# Kind of a line.
LineKind: TypeAlias = Literal["train", "eval", "checkpoint"]


class HistoryLine(TypedDict):
    """A line of history.jsonl: a step, and the hours trained until then."""

    kind: LineKind
    step: int
    hours: float
    examples: int
    learning_rate: float | None
    # A metric that is not finite is None.
    metrics: dict[str, float | None]
    # In a line of an evaluation.
    dev_set: NotRequired[int]
    # In a line of a checkpoint.
    best_step: NotRequired[int]


class History:
    """Writes the history of a run, and counts the hours of its training.

    Args:
        config: flags of the run. Only the chief writes the history and, unless
            --summary_steps is 0, the files for TensorBoard.
        lines: lines of the file, which `read` reads.
        dev_set_checksum: checksum of the dev set that the command evaluates, 0
            if it evaluates none. Evaluations with other checksums are not
            comparable. It is an attribute too.
    """

    def __init__(
        self,
        config: TrainingConfig,
        lines: Sequence[HistoryLine],
        *,
        dev_set_checksum: int = 0,
    ) -> None:
        self.dev_set_checksum = dev_set_checksum
        self._config = config
        self._path = _history_file_of(config)
        self._tensorboard_writer = TensorboardWriter(config.state_folder)
        # time.monotonic() at which the training began, None while not training.
        self._began: float | None = None
        # Hours of training before `_began`.
        self._hours_before = 0.0
        self._lines = {(line["kind"], line["step"]): line for line in lines}

    @classmethod
    def read(cls, config: TrainingConfig, *, dev_set_checksum: int = 0) -> Self:
        """Reads the history of a run, which is empty without a file.

        The hours continue from the last checkpoint.

        Args:
            config: flags of the run, with its folder.
            dev_set_checksum: argument of the class.
        """
        file = _history_file_of(config)
        lines = read_history(file) if file.exists() else []
        history = cls(config, lines, dev_set_checksum=dev_set_checksum)
        history.resume(history.last_checkpoint_step)
        return history

    @property
    def hours(self) -> float:
        """Hours that the run has trained so far, evaluations included.

        The hours of all commands of the run count.
        """
        if self._began is None:
            return self._hours_before
        return self._hours_before + (time.monotonic() - self._began) / 3600

    @property
    def last_checkpoint_step(self) -> int:
        """Number of the last step with a line of a checkpoint, or 0."""
        saved = [step for kind, step in self._lines if kind == "checkpoint"]
        return max(saved, default=0)

    def resume(self, checkpoint_step: int) -> None:
        """Continues with the hours that were trained until a checkpoint.

        Without a line of the checkpoint, the hours are unknown and count as 0.
        """
        line = self._lines.get(("checkpoint", checkpoint_step))
        self._hours_before = line["hours"] if line else 0.0

    def remove_lines_after(self, step: int) -> None:
        """Removes the lines of later steps, because training repeats them.

        The chief writes the other lines to the file.
        """
        self._lines = {
            key: line for key, line in self._lines.items() if key[1] <= step
        }
        if self._config.is_chief:
            self._write_all()

    @contextlib.contextmanager
    def count_hours(self) -> Iterator[None]:
        """Counts the hours inside a `with` block as hours of training."""
        self._began = time.monotonic()
        try:
            yield
        finally:
            self._hours_before = self.hours
            self._began = None

    def add_training(
        self,
        step: int,
        metrics: Mapping[str, float],
        learning_rate: float | None = None,
    ) -> None:
        """Adds what a training step measured, or replaces that of the step.

        Args:
            step: number of steps trained.
            metrics: {name: value}, such as the losses and the speed.
            learning_rate: learning rate of the step, None if it is unknown.
        """
        self._add(self._create_line("train", step, metrics, learning_rate))

    def add_checkpoint(
        self,
        step: int,
        learning_rate: float | None = None,
        *,
        best_step: int | None = None,
    ) -> None:
        """Adds the line of a checkpoint.

        Args:
            step: number of steps trained.
            learning_rate: learning rate of the step, None if it is unknown.
            best_step: the best step so far, None before the first evaluation.
        """
        line = self._create_line("checkpoint", step, {}, learning_rate)
        if best_step is not None:
            line["best_step"] = best_step
        self._add(line)

    def add_evaluation(
        self, evaluation: Evaluation, learning_rate: float | None = None
    ) -> None:
        """Adds an evaluation on the dev set, or replaces the one of the step.

        Args:
            evaluation: scores of the dev set.
            learning_rate: learning rate of the step, None if it is unknown.
        """
        line = self._create_line(
            "eval",
            evaluation.step,
            evaluation.scores.to_entries(),
            learning_rate,
        )
        line["dev_set"] = self.dev_set_checksum
        self._add(line)

    def find_evaluation(self, step: int) -> HistoryLine | None:
        """Returns the line of a step's evaluation, None if there is none."""
        return self._lines.get(("eval", step))

    def find_best_step_at(self, checkpoint_step: int) -> int | None:
        """Returns the best step that the line of a checkpoint contains.

        Returns None if there is no such line, or the line has no best step.
        """
        line = self._lines.get(("checkpoint", checkpoint_step))
        return line.get("best_step") if line else None

    def _create_line(
        self,
        kind: LineKind,
        step: int,
        metrics: Mapping[str, float],
        learning_rate: float | None,
    ) -> HistoryLine:
        """Returns a line with the hours trained so far.

        If the history has a line of the step already, the hours, the number of
        examples and the learning rate are those of that line.
        """
        line: HistoryLine = {
            "kind": kind,
            "step": step,
            "hours": self.hours,
            "examples": step * self._config.batch_size,
            "learning_rate": learning_rate,
            "metrics": {},
        }
        if earlier_line := self._find_earlier_line(step):
            line["hours"] = earlier_line["hours"]
            line["examples"] = earlier_line["examples"]
            line["learning_rate"] = earlier_line["learning_rate"]
        line["metrics"] = {
            name: float(value) if math.isfinite(value) else None
            for name, value in metrics.items()
        }
        return line

    def _find_earlier_line(self, step: int) -> HistoryLine | None:
        """Returns the line of a step that others repeat, None without a line.

        The line of a checkpoint comes first, because a resumed run continues
        with its hours.
        """
        kinds: tuple[LineKind, ...] = ("checkpoint", "eval", "train")
        for kind in kinds:
            if line := self._lines.get((kind, step)):
                return line
        return None

    def _add(self, line: HistoryLine) -> None:
        """Adds a line. The chief writes it to the file, and for TensorBoard."""
        kind = line["kind"]
        step = line["step"]
        replaced = self._lines.get((kind, step))
        self._lines[kind, step] = line
        if not self._config.is_chief:
            return
        is_new = line["metrics"] and replaced != line
        if is_new and self._config.training.summary_steps:
            prefix = "eval/" if kind == "eval" else ""
            self._tensorboard_writer.write(prefix, step, line["metrics"])
        if replaced or self._began is None:
            # A killed run may have left half a line at the end of the file.
            self._write_all()
        else:
            self._append(line)

    def _append(self, line: HistoryLine) -> None:
        """Writes a line at the end of the file."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(format_line(line))
        if line["kind"] == "checkpoint":
            atomic.sync_to_disk(self._path)

    def _write_all(self) -> None:
        atomic.write_text(
            self._path, "".join(map(format_line, self._lines.values()))
        )


def _history_file_of(config: TrainingConfig) -> Path:
    return Path(config.training.output_dir) / HISTORY_FILE


def read_history(path: str | os.PathLike[str]) -> list[HistoryLine]:
    """Reads the complete lines of a history file.

    Raises:
        ValueError: a line is not a `HistoryLine`. The message names the line.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        *lines, _ = file.read().split(b"\n")
    return [
        _parse_line(line, f"{os.fspath(path)}, line {line_number}")
        for line_number, line in enumerate(lines, start=1)
    ]


def scores_of_line(line: HistoryLine) -> Scores:
    """Returns the metrics of a line. One that was not finite is NaN."""
    return parse_scores(
        {
            name: math.nan if value is None else value
            for name, value in line["metrics"].items()
        }
    )


def _parse_line(text: bytes, place: str) -> HistoryLine:
    """Parses one line. Error messages begin with `place`."""
    values = json_files.parse_json(text, place)
    if name := find_malformed_entry(values, HistoryLine):
        raise ValueError(
            f"{place}: `{name}` is missing or malformed. Copy the file "
            "again, or remove the line"
        )
    return cast("HistoryLine", values)


def format_line(line: HistoryLine) -> str:
    """Returns a line as text, with its line break."""
    return json.dumps(line) + "\n"
