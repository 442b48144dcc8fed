"""Names of the files that a run writes into its own folder.

The module that writes a file registers the file's name when it is imported.
Other code asks here whether a name belongs to the run, or to its user.
"""

import contextlib
import fnmatch
import os

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


def remove_partial_files(folder: str | os.PathLike[str]) -> None:
    """Removes what killed processes left of a run's files.

    Only the process that holds the folder's lock may do so.

    Args:
        folder: a local folder.
    """
    for found in os.listdir(folder):
        name, _, number = found.rpartition(".partial-")
        if number.isdecimal() and is_run_file(name):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, found))
