"""Defines the lines of history.jsonl, the history of a training run.

The file in the run's folder contains one JSON object per line:

    {"kind": "eval", "step": 2000, "hours": 0.07, "examples": 128000,
     "learning_rate": 0.0019, "metrics": {"loss": 5.2, ...}}

`kind` is "train" for the losses of a step, "eval" for an evaluation, and
"checkpoint" for a save, from which a resumed run reads the hours trained. The
line of an evaluation also contains a checksum of its dev set, `dev_set`.
history.py writes the lines.
"""

import json
import os
from typing import Literal, NotRequired, TypeAlias, TypedDict, cast, get_args

from files import json_files
from files.json_files import find_malformed_entry

HISTORY_FILE = "history.jsonl"
# Kind of a line.
LineKind: TypeAlias = Literal["train", "eval", "checkpoint"]
LINE_KINDS: tuple[LineKind, ...] = get_args(LineKind)


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
