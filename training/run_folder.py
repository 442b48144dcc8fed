"""Names in the folder of a run. Imports no TensorFlow."""

import os
from collections.abc import Iterable
from pathlib import Path

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
