"""The files of a run's checkpoints: which of them stay, and links to them."""

import contextlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from files.atomic import write_text
from files.paths import StrPath
from model_folders.checkpoint_folders import (
    CHECKPOINT_PREFIX,
    list_checkpoint_steps,
)
from model_folders.formats.tf1 import check_tf1_files
from modeling.checkpoints import tf1

# Matches the files that saving a checkpoint writes, but not similar names, such
# as a user's copies.
_CHECKPOINT_FILE = re.compile(
    re.escape(CHECKPOINT_PREFIX)
    + r"-(?P<step>0|[1-9][0-9]*)(?P<partial>\.partial(-[0-9]+)?)?"
    + r"\.(index|data-00000-of-00001)(\.tempstate[0-9]+)?"
)


def remove_old_checkpoints(
    folder: Path, step: int, *, restored_step: int, keep_max: int
) -> None:
    """Removes old, later and partial checkpoints after a step was saved.

    Checkpoints that the file `checkpoint` does not list are the user's. They
    stay. Then the file lists the checkpoints that the run keeps.

    Args:
        folder: folder of the checkpoints.
        step: the step that was saved.
        restored_step: the step that the run was resumed from, -1 for none.
        keep_max: number of newest checkpoints to keep, 0 for all.

    Raises:
        OSError: a file cannot be removed, or the list cannot be written.
    """
    listing = folder / "checkpoint"
    steps = list_checkpoint_steps(folder)
    own_steps = _read_listing(listing) | {step, restored_step}
    kept = [
        own_step
        for own_step in steps
        if own_step <= step and own_step in own_steps
    ]
    if keep_max:
        kept = kept[-keep_max:]
    users_steps = {*steps} - own_steps
    _remove_others(folder, {*kept} | users_steps)
    _write_listing(listing, step, kept)


def _read_listing(listing: Path) -> set[int]:
    """Returns the steps that `_write_listing` wrote, or none."""
    if not listing.is_file():
        return set()
    text = listing.read_text(errors="replace")
    return {*map(int, re.findall(rf'"{CHECKPOINT_PREFIX}-(\d+)"', text))}


def _write_listing(listing: Path, step: int, kept: Sequence[int]) -> None:
    """Writes the file that tf.train.latest_checkpoint reads."""
    lines = [f'model_checkpoint_path: "{CHECKPOINT_PREFIX}-{step}"']
    lines += [
        f'all_model_checkpoint_paths: "{CHECKPOINT_PREFIX}-{kept_step}"'
        for kept_step in kept
    ]
    write_text(listing, "\n".join(lines) + "\n")


def _remove_others(folder: Path, staying: set[int]) -> None:
    """Removes the checkpoints of other steps, and partial files.

    A run that was killed while saving leaves partial files.
    """
    # Delete indices first, because a data file without an index is no
    # checkpoint.
    for file in sorted(
        folder.iterdir(), key=lambda file: ".index" not in file.name
    ):
        match = _CHECKPOINT_FILE.fullmatch(file.name)
        if match and (match["partial"] or int(match["step"]) not in staying):
            file.unlink(missing_ok=True)


def link_checkpoint(step: int, source_folder: StrPath, folder: StrPath) -> None:
    """Replaces a folder's step by links to it in `source_folder`, if possible.

    The step stays a copy if the source is missing or damaged, or cannot be
    linked. If the process is killed, the step may be missing in `folder` until
    the next call.
    """
    source = f"{source_folder}/{CHECKPOINT_PREFIX}-{step}"
    target = f"{folder}/{CHECKPOINT_PREFIX}-{step}"
    partial = f"{target}.partial"
    with contextlib.suppress(OSError):
        check_tf1_files(source)
        for end in tf1.ENDINGS:
            Path(partial + end).unlink(missing_ok=True)
            os.link(os.path.realpath(source + end), partial + end)
        for end in reversed(tf1.ENDINGS):
            Path(target + end).unlink(missing_ok=True)
        for end in tf1.ENDINGS:
            os.rename(partial + end, target + end)
