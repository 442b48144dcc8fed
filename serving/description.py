"""model.json of an export: what must be known to use its head.

    {"version": 1, "task": {"name": "classify", "labels": ["no", "yes"],
     "problem_type": "classification", "max_seq_length": 128}}

`name` is the head's main task, as predict.py's --task has it. Beside it are the
files of the tokenizer.
"""

import json
from pathlib import Path
from typing import Any

from files.json_files import read_json

FILE = "model.json"


def to_text(task: dict[str, Any]) -> str:
    """Returns the contents of the file for a task."""
    return json.dumps({"version": 1, "task": task}, indent=2) + "\n"


def read(folder: Path) -> dict[str, Any] | None:
    """Returns the task of a folder's model; None if it says none.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not valid.
    """
    path = folder / FILE
    task = read_json(path).get("task") if path.is_file() else None
    if not (task is None or isinstance(task, dict) and "name" in task):
        raise ValueError(f"{path}: `task` has no name; export the model again")
    return task
