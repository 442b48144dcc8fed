"""The history of a run: its metrics by step and hours.

It is kept in the file `history.jsonl` of the run's folder, a JSON object a
line:

    {"kind": "eval", "step": 2000, "hours": 0.07, "examples": 128000,
     "learning_rate": 0.0019, "metrics": {"loss": 5.2, ...}}

`kind` is "train" for the losses of a step, "eval" for an evaluation, and
"checkpoint" for a save, from which a resumed run reads the time spent. A
resumed run drops the lines after its checkpoint and writes them again, so there
is one line of each kind for a step. TensorBoard gets the same metrics, those of
evaluations as `eval/NAME`, and a few of the examples.
"""

import contextlib
import functools
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from files import atomic, json_files
from training import batch_sizes, text_samples
from training.callbacks import Callback

if TYPE_CHECKING:
    from training.callbacks.time_limit import TimeLimit
    from training.trainer import Trainer

FILE = "history.jsonl"
KINDS = ("train", "eval", "checkpoint")
# Larger values cannot be drawn and do not occur.
_LARGEST = 1e300


class History(Callback):
    """Writes the history of a run.

    Args:
        output_dir: folder of the run.
        clock: counts the hours of the run.
        sizes: the run's batch sizes.
        has_scalars: whether TensorBoard gets the metrics too.
        is_chief: False for a worker that reads but never writes.

    Raises:
        ValueError: a line of the file is malformed.
        OSError: the file cannot be read.
    """

    def __init__(
        self,
        output_dir: str | os.PathLike[str],
        clock: "TimeLimit",
        sizes: batch_sizes.BatchSizes,
        has_scalars: bool = False,
        is_chief: bool = True,
    ) -> None:
        self._path = Path(output_dir) / FILE
        self._clock, self._sizes = clock, sizes
        self._has_scalars, self._is_chief = has_scalars, is_chief
        self._rate: float | None = None
        found, self._is_torn = [], False
        if self._path.exists():
            found = read(self._path)
            # A kill can leave half a line at the end.
            self._is_torn = not self._path.read_bytes().endswith(b"\n")
        self._lines = {(line["kind"], line["step"]): line for line in found}

    def on_restore(self, step: int, is_new: bool) -> None:
        """Has the clock count on from the hours of a step."""
        self._clock.resume(self.hours_at(step))

    @contextlib.contextmanager
    def running(self, trainer: "Trainer") -> Iterator[None]:
        """Drops the lines after the current step, which will be repeated."""
        self.resume(trainer.global_step)
        self.add_hyperparameters(trainer.config.hyperparameters)
        yield

    def on_step(
        self, step: int, logs: Mapping[str, float], agreed: float
    ) -> None:
        """Keeps the learning rate of a step."""
        self._rate = logs.get("learning_rate")

    def on_save(self, step: int) -> None:
        """Adds a line, from which a resumed run reads the time spent."""
        self.add("checkpoint", step, {})

    def hours_at(self, step: int) -> float:
        """Returns the hours after which a checkpoint was saved; 0 if unknown.

        Runs of earlier versions have no history.
        """
        line = self._lines.get(("checkpoint", step)) or {}
        return line.get("hours") or 0.0

    def resume(self, step: int) -> None:
        """Drops the lines after a step, which will be repeated."""
        self._lines = {
            key: line for key, line in self._lines.items() if key[1] <= step
        }
        if self._is_chief and self._path.exists():
            self._write_all()

    def add(self, kind: str, step: int, metrics: Mapping[str, float]) -> None:
        """Adds a line, or replaces the metrics of an existing one.

        Args:
            kind: one of KINDS.
            step: number of steps made.
            metrics: {name: figure}.

        Raises:
            OSError: the file cannot be written.
        """
        found = {
            name: float(value) if math.isfinite(value) else None
            for name, value in metrics.items()
            if name != "global_step"
        }
        known = self._lines.get((kind, step))
        if not self._is_chief or (known and known["metrics"] == found):
            return
        line = known or self._describe(step)
        line = {"kind": kind, **line, "metrics": found}
        self._lines[kind, step] = line
        if self._has_scalars and found:
            self._write_scalars(line)
        if known or self._is_torn or not self._path.exists():
            self._write_all()
            return
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(_line_of(line))

    def first_reached(self, name: str, target: float) -> dict | None:
        """Returns the first evaluation that reaches the target."""
        found = [
            line
            for line in self._lines.values()
            if line["kind"] == "eval"
            # None is a figure that was not finite.
            and (line["metrics"].get(name) or 0.0) >= target
        ]
        return min(found, key=lambda line: line["step"], default=None)

    def _describe(self, step: int) -> dict[str, Any]:
        """Returns the hours of a step, from another line of it or the clock."""
        names = ("step", "hours", "examples", "learning_rate")
        for kind in KINDS:
            if line := self._lines.get((kind, step)):
                return {name: line[name] for name in names}
        hours, examples = self._clock.hours, self._sizes.examples(step)
        return dict(
            zip(names, (step, hours, examples, self._rate), strict=True)
        )

    def add_hyperparameters(self, values: Mapping[str, Any]) -> None:
        """Writes the run's flags for TensorBoard's HPARAMS page."""
        if not (self._has_scalars and self._is_chief):
            return
        from tensorboard.plugins.hparams import api

        with self._writer.as_default():
            api.hparams(dict(values), trial_id=str(self._path.parent))
        self._writer.flush()

    def add_samples(
        self, step: int, name: str, rows: Sequence[text_samples.Row]
    ) -> None:
        """Shows examples of an evaluation in TensorBoard, as `eval/NAME`.

        Call it before `add`: an evaluation that the history has already is
        not shown again.

        Args:
            step: steps that have been made.
            name: of the examples.
            rows: see text_samples.to_table.
        """
        is_known = ("eval", step) in self._lines
        if is_known or not (rows and self._has_scalars and self._is_chief):
            return
        import tensorflow as tf

        table = text_samples.to_table(rows)
        with self._writer.as_default():
            tf.summary.text(f"eval/{name}", table, step=step)
        self._writer.flush()

    def _write_scalars(self, line: Mapping[str, Any]) -> None:
        # Imported here, so that plotting a history does not load TensorFlow.
        import tensorflow as tf

        prefix = "eval/" if line["kind"] == "eval" else ""
        with self._writer.as_default():
            for name, value in line["metrics"].items():
                if value is not None:
                    tf.summary.scalar(prefix + name, value, step=line["step"])
        self._writer.flush()

    @functools.cached_property
    def _writer(self) -> Any:
        import tensorflow as tf

        return tf.summary.create_file_writer(str(self._path.parent))

    def _write_all(self) -> None:
        atomic.write_text(
            self._path, "".join(map(_line_of, self._lines.values()))
        )
        self._is_torn = False


def read(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Returns the lines of a history, without half a line at the end.

    Raises:
        ValueError: a line is malformed; the message names it.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        *lines, _ = file.read().split(b"\n")
    found = []
    for number, text in enumerate(lines, start=1):
        where = f"{os.fspath(path)}, line {number}"
        line = json_files.parse_json(text, where)
        if not _is_line(line):
            raise ValueError(
                f"{where} is not a line of a run's history; restore the file "
                "from a backup, or remove it"
            )
        found.append(line)
    return found


def _is_line(line: Mapping[str, Any]) -> bool:
    names = ("step", "hours", "examples", "learning_rate")
    if not {"kind", *names, "metrics"} <= line.keys():
        return False
    numbers, metrics = [line[name] for name in names], line["metrics"]
    if isinstance(metrics, dict):
        numbers += metrics.values()
    return (
        line["kind"] in KINDS
        and type(line["step"]) is int
        and isinstance(metrics, dict)
        and all(
            n is None or (type(n) in (int, float) and abs(n) <= _LARGEST)
            for n in numbers
        )
    )


def _line_of(line: Mapping[str, Any]) -> str:
    return json.dumps(line) + "\n"
