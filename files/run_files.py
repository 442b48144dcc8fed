"""Registers the names of the files that a run writes into its own folder.

Each module that writes such a file registers the file's name when Python
imports the module. `is_run_file` returns whether a name is registered. Files of
other names belong to the user. A partial file is named like the final file,
with `.partial-NUMBER` at the end.
"""

import fnmatch
import os
import re
from collections.abc import Iterable
from pathlib import Path

from files import manifests
from files.atomic import is_remote, remove_partial
from files.paths import Kind, PathFlag, StrPath

# Name of the folder in a run's folder that contains the weights of the best
# step.
BEST = "best"
# A checkpoint's name is this prefix, a hyphen and the training step.
PREFIX = "model.ckpt"

# Names of output files that are first written into a temporary folder, and then
# moved.
_STAGED = ("model.safetensors", "bert_model.ckpt.index")

_names: set[str] = set()
_results: set[str] = set()


def register(*names: str, are_results: bool = False) -> None:
    """Registers names of files that a run writes directly in its folder.

    Args:
        *names: names, or patterns such as `events.out.*`.
        are_results: True if the files are results that a run writes only with
            some flags or data. Files of an earlier run may then stay in the
            folder, and could be mistaken for results of this run.
    """
    _names.update(names)
    if are_results:
        _results.update(names)


def is_run_file(name: str, are_results: bool = False) -> bool:
    """Returns whether a run writes files of this name.

    If `are_results` is True, considers only names registered as results.
    """
    names = _results if are_results else _names
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in names)


def checkpoint_steps(names: Iterable[str]) -> list[int]:
    """Returns the steps of the checkpoints in a folder, in ascending order.

    `names` are the names of all files in the folder.
    """
    found = (
        re.fullmatch(rf"{PREFIX}-(0|[1-9][0-9]*)\.index", name)
        for name in names
    )
    return sorted(int(match[1]) for match in found if match)


def folders(output_dir: StrPath) -> list[Path]:
    """Returns the folders to which a run writes: `output_dir` and its BEST."""
    found = [Path(output_dir), Path(output_dir, BEST)]
    return [folder for folder in found if folder.is_dir()]


def remove_partial_files(output_dir: StrPath) -> None:
    """Removes partial files that killed processes left in the folder of a run.

    Only the process that has locked the folder may call this function.
    """
    # A run also writes descriptions of its weights, unless they exist already.
    ours = manifests.DESCRIPTIONS
    for folder in folders(output_dir):
        remove_partial(folder, lambda name: is_run_file(name) or name in ours)


def remove_leftovers(flag: PathFlag) -> None:
    """Removes partial files of a flag's output, left by killed processes.

    If the output needs a lock, the caller must have locked the output.
    """
    if flag.kind is Kind.RUN_FOLDER:
        remove_partial_files(flag.value)
    if flag.kind is Kind.MODEL_OUTPUT and not is_remote(flag.value):
        if flag.is_prefix:
            folder, name = os.path.split(flag.value)
            index = f"{name}.index"
            remove_partial(folder or ".", index.__eq__, folders=(index,))
        else:
            names = {*manifests.MODEL_FILES, manifests.WEIGHTS}
            remove_partial(flag.value, names.__contains__, folders=_STAGED)
    if flag.kind in (Kind.OUTPUT_FILE, Kind.OUTPUT_FILES):
        for path in flag.parts:
            if not is_remote(path):
                # If the path is a link, its partial file is in the folder of
                # the link's target.
                folder, name = os.path.split(os.path.realpath(path))
                remove_partial(folder, name.__eq__, is_locked=False)
