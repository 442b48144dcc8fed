"""Names of the files that a run writes into its own folder.

The module that writes a file registers the file's name when it is imported.
Other code asks here whether a name belongs to the run, or to its user. Partial
files have the exact name of an output and `.partial-NUMBER` after it.
"""

import fnmatch
import os
import re
from collections.abc import Iterable
from pathlib import Path

from files import manifests
from files.atomic import is_remote, remove_partial
from files.paths import Kind, PathFlag, StrPath

# Folders in a run's folder, for the weights of the best step and for the
# averaged weights.
BEST, AVERAGES = "best", "averages"
# Prefix of a checkpoint's name, before the step.
PREFIX = "model.ckpt"

# Names that are written as a partial folder first.
_STAGED = ("model.safetensors", "bert_model.ckpt.index")
# Files that a run writes only if they do not exist.
_DESCRIPTIONS = ("bert_config.json", "tokenizer_config.json", "vocab.txt")

_names: set[str] = set()
_results: set[str] = set()


def register(*names: str, are_results: bool = False) -> None:
    """Registers names that a run writes, directly in its folder.

    Args:
        *names: names, or patterns such as `events.out.*`.
        are_results: True if a prediction writes the files only with some flags
            or data, so that files of an earlier run may be left over.
    """
    _names.update(names)
    if are_results:
        _results.update(names)


def is_run_file(name: str) -> bool:
    """Returns whether a run writes files of this name."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _names)


def is_result(name: str) -> bool:
    """Returns whether a prediction writes files of this name."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _results)


def checkpoint_steps(names: Iterable[str]) -> list[int]:
    """Returns the steps of complete checkpoints, oldest first."""
    found = (
        re.fullmatch(rf"{PREFIX}-(0|[1-9][0-9]*)\.index", name)
        for name in names
    )
    return sorted(int(match[1]) for match in found if match)


def is_weight_folder(place: str) -> bool:
    """Returns whether one or several runs write weights to a folder.

    Args:
        place: path of the folder, relative to the run's folder.
    """
    pattern = rf"(\.|run_\d+)?/?({BEST}|{AVERAGES})?"
    return re.fullmatch(pattern, place) is not None


def folders(output_dir: StrPath) -> list[Path]:
    """Returns a run's folder and the folders of weights and runs in it."""
    top = Path(output_dir)
    runs = [top, *sorted(top.glob("run_[1-9]*"))]
    found = [run / name for run in runs for name in ("", BEST, AVERAGES)]
    return [folder for folder in found if folder.is_dir()]


def remove_partial_files(output_dir: StrPath) -> None:
    """Removes what killed processes left of a run's files.

    Only the process that holds the folder's lock may do so.
    """
    for folder in folders(output_dir):
        remove_partial(
            folder, lambda name: is_run_file(name) or name in _DESCRIPTIONS
        )


def remove_leftovers(flag: PathFlag) -> None:
    """Removes what killed processes left of an output.

    The path must be locked, if it needs a lock.
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
                # Written beside the target of a link.
                folder, name = os.path.split(os.path.realpath(path))
                remove_partial(folder, name.__eq__, is_locked=False)
