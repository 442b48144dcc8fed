"""Names of the files that a run writes into its own folder.

The module that writes a file registers the file's name when it is imported.
Other code asks here whether a name belongs to the run, or to its user.
"""

import fnmatch
import os
from pathlib import Path

from files.atomic import remove_partial

# Folders in that of a run, for the weights of the best step and for the
# averages of the weights.
BEST, AVERAGES = "best", "averages"

# A run writes these only where there are none.
_DESCRIPTIONS = ("bert_config.json", "tokenizer_config.json", "vocab.txt")

_names: set[str] = set()
_results: set[str] = set()


def register(*names: str, are_results: bool = False) -> None:
    """Registers names that a run writes, directly in its folder.

    Args:
        *names: names, or patterns such as `events.out.*`.
        are_results: whether a prediction writes them, depending on flags and
            data, so that an earlier run's may be left over.
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


def folders(output_dir: str | os.PathLike[str]) -> list[Path]:
    """Returns a run's folder and the folders of weights and runs in it."""
    top = Path(output_dir)
    runs = [top, *sorted(top.glob("run_[1-9]*"))]
    found = [run / name for run in runs for name in ("", BEST, AVERAGES)]
    return [folder for folder in found if folder.is_dir()]


def remove_partial_files(output_dir: str | os.PathLike[str]) -> None:
    """Removes what killed processes left of a run's files.

    Only the process that holds the folder's lock may do so.

    Args:
        output_dir: a local folder.
    """
    for folder in folders(output_dir):
        remove_partial(
            folder, lambda name: is_run_file(name) or name in _DESCRIPTIONS
        )
