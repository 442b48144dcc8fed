"""Names and results in the folder of a run. Imports no TensorFlow."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import logging

from files import run_files

PREFIX = run_files.PREFIX
BEST, AVERAGES = run_files.BEST, run_files.AVERAGES


def remove_checkpoints(
    output_dir: str | os.PathLike[str], steps: Iterable[int]
) -> None:
    """Removes the checkpoints of some steps; similar names stay."""
    for step in steps:
        # Without its index, the rest is not a checkpoint.
        for end in (".index", ".data-00000-of-00001"):
            path = Path(output_dir) / f"{PREFIX}-{step}{end}"
            path.unlink(missing_ok=True)


def checkpoint_steps(output_dir: str | os.PathLike[str]) -> list[int]:
    """Returns the steps of complete checkpoints in a folder, oldest first."""
    files = Path(output_dir).glob(f"{PREFIX}-*.index")
    return run_files.checkpoint_steps(file.name for file in files)


def folder_of(checkpoint: str) -> str:
    """Returns the folder of a checkpoint, which may itself be a folder."""
    is_folder = os.path.isdir(checkpoint)
    return (checkpoint if is_folder else os.path.dirname(checkpoint)) or "."


def are_same(folder: str, other: str) -> bool:
    """Returns whether two paths are of one folder, which exists."""
    are_there = os.path.isdir(folder) and os.path.isdir(other)
    return are_there and os.path.samefile(folder, other)


def find_results(
    folder: str | os.PathLike[str], others: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """Returns {name: what a rewrite changes} of a folder's results.

    Args:
        folder: folder of a run.
        others: names of more files that count.
    """
    path = Path(folder)
    return {
        file.name: (file.stat().st_ino, file.stat().st_mtime_ns)
        for file in (path.iterdir() if path.is_dir() else ())
        if run_files.is_result(file.name) or file.name in others
    }


def warn_of_earlier(
    folder: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Warns of results, see `find_results`, that a run has not rewritten.

    A run without --version_2_with_negative writes no null_odds.json; an earlier
    run's could be mistaken for a part of the new answers. We keep such a file,
    because the user may own it, and log a warning.
    """
    left = sorted(before.items() & after.items())
    if left:
        logging.warning(
            "%s in %s are left over from an earlier run; move or remove them.",
            ", ".join(name for name, _ in left),
            folder,
        )
