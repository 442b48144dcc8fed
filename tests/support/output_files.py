"""Reads the files that scripts wrote.

For example:

    accuracy = read_results(tmp_path / "run")["eval_accuracy"]
"""

import json
from pathlib import Path
from typing import Any


def read_results(
    folder: Path, name: str = "eval_results.txt"
) -> dict[str, float]:
    """Returns {name: value} from the results file of a run."""
    lines = (folder / name).read_text().splitlines()
    pairs = (line.split(" = ") for line in lines)
    return {name: float(value) for name, value in pairs}


def read_json_lines(path: Path) -> list[Any]:
    """Returns the parsed lines of a JSON lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def snapshot(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Returns {path: (time of the last change, contents)} of all files."""
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }
