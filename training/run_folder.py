"""Names of files and results in a run's folder. Imports no TensorFlow."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import logging

from files import run_files

RATES = ("precision", "recall", "f1")
# Matches the name of a label's score, with or without a split's suffix.
_OF_LABEL = re.compile(rf"(.+)_({'|'.join(RATES)})((?:_\w+)?)")

PREFIX = run_files.PREFIX
BEST, AVERAGES = run_files.BEST, run_files.AVERAGES


def remove_checkpoints(
    output_dir: str | os.PathLike[str], steps: Iterable[int]
) -> None:
    """Deletes the checkpoints of `steps`, but no files with similar names."""
    for step in steps:
        # Delete the index first. Without an index, the data file that remains
        # is not read as a checkpoint.
        for end in (".index", ".data-00000-of-00001"):
            path = Path(output_dir) / f"{PREFIX}-{step}{end}"
            path.unlink(missing_ok=True)


def checkpoint_steps(output_dir: str | os.PathLike[str]) -> list[int]:
    """Returns the steps of complete checkpoints in a folder, oldest first."""
    files = Path(output_dir).glob(f"{PREFIX}-*.index")
    return run_files.checkpoint_steps(file.name for file in files)


def folder_of(checkpoint: str) -> str:
    """Returns the folder of a checkpoint. A folder is returned unchanged."""
    is_folder = os.path.isdir(checkpoint)
    return (checkpoint if is_folder else os.path.dirname(checkpoint)) or "."


def are_same(folder: str, other: str) -> bool:
    """Returns whether two paths name the same existing folder."""
    are_there = os.path.isdir(folder) and os.path.isdir(other)
    return are_there and os.path.samefile(folder, other)


def find_results(
    folder: str | os.PathLike[str], others: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """Finds the result files in a folder.

    Returns {name of the file: (inode, time of the last change)}. If a run
    rewrites a file, both numbers change.

    Args:
        folder: folder of a run.
        others: names of additional files to include.
    """
    path = Path(folder)
    return {
        file.name: (file.stat().st_ino, file.stat().st_mtime_ns)
        for file in (path.iterdir() if path.is_dir() else ())
        if run_files.is_run_file(file.name, are_results=True)
        or file.name in others
    }


def warn_of_earlier(
    folder: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Warns of result files of an earlier run that this run did not rewrite.

    For example, a run without --version_2_with_negative writes no
    null_odds.json, so users could think that an earlier run's file belongs to
    the new answers. The file is not deleted, because it may be the user's.

    `before` and `after` are results of `find_results`.
    """
    left = sorted(before.items() & after.items())
    if left:
        logging.warning(
            "%s in %s are left over from an earlier run; move or remove them.",
            ", ".join(name for name, _ in left),
            folder,
        )


def split_by_label(
    results: Mapping[str, float],
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Returns the overall scores, and {label: scores of the label}.

    Args:
        results: {name: score}. LABEL_precision, LABEL_recall and LABEL_f1
            are the scores of one label.
    """
    matches = {name: _OF_LABEL.fullmatch(name) for name in results}
    by_label: dict[str, dict[str, float]] = {}
    for name, match in matches.items():
        if match:
            label = by_label.setdefault(match[1] + match[3], {})
            label[match[2]] = results[name]
    # Only a label's scores include all three rates. SQuAD's HasAns_f1, for
    # example, is not the score of a label.
    by_label = {k: v for k, v in by_label.items() if len(v) == len(RATES)}
    overall = {
        name: results[name]
        for name, match in matches.items()
        if not (match and match[1] + match[3] in by_label)
    }
    return overall, by_label


def format_results(results: Mapping[str, float]) -> str:
    """Returns a text table of scores, followed by one row for each label."""
    overall, by_label = split_by_label(results)
    width = max(map(len, [*overall, *by_label, "label"]))
    lines = [
        f"  {name:<{width}}  {_right(value)}" for name, value in overall.items()
    ]
    if by_label:
        lines.append("  ".join([f"  {'label':<{width}}", *map(_right, RATES)]))
    for label, scores in by_label.items():
        cells = [_right(scores[name]) for name in RATES]
        lines.append("  ".join([f"  {label:<{width}}", *cells]))
    return "\n".join(lines)


def _right(cell: str | float) -> str:
    return f"{cell:>9.4f}" if isinstance(cell, float) else f"{cell:>9}"
