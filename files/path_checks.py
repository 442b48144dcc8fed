"""Checks all paths that flags name, before any work.

Outputs must not overwrite inputs or each other; see overlaps.py.
"""

import os
import re
from collections.abc import Sequence

from files import manifests, overlaps
from files.atomic import is_remote
from files.paths import FILES, OUTPUTS, Kind, PathFlag

# Line ends, tabs and the like, which are never intended in a path.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def check_paths(given: Sequence[PathFlag]) -> None:
    """Refuses invalid paths, and outputs that would do harm.

    Args:
        given: the path flags that have a value.

    Raises:
        ValueError: a path is empty or invalid; an output is, is inside or
            contains something that it must not touch; a model would replace one
            that this project did not write.
        OSError: a path is a folder instead of a file or the reverse, or an
            output cannot be written.
    """
    for flag in given:
        for path in flag.parts:
            _check_text(flag, path)
    for flag in given:
        for path in flag.parts:
            if not is_remote(path):
                _check_type(flag, path)
    overlaps.check(given)
    for flag in given:
        if flag.kind is Kind.MODEL_OUTPUT and not is_remote(flag.value):
            folder, names = flag.value, list(manifests.MODEL_FILES)
            if flag.is_prefix:
                folder, names = manifests.checkpoint_files(flag.value)
            manifests.check(folder, names, str(flag))


def lock_path(flag: PathFlag) -> str | None:
    """Returns the file that locks an output; None if it needs no lock.

    Single files always appear whole.
    """
    path = os.path.normpath(flag.value)
    if is_remote(flag.value):
        return None
    if flag.kind is Kind.EXPORT_FOLDER or flag.is_prefix:
        return f"{path}.lock"
    if flag.kind in (Kind.RUN_FOLDER, Kind.MODEL_OUTPUT):
        return os.path.join(path, ".lock")
    return None


def _check_text(flag: PathFlag, path: str) -> None:
    if not path.replace(",", "").strip():
        if path != flag.value:
            raise ValueError(f"{flag}: one of the names is empty; leave it out")
        raise ValueError(
            f"--{flag.flag}= is empty (was a shell variable not set?); give a "
            "path, or leave the flag out"
        )
    if control := _CONTROL.search(path):
        raise ValueError(
            f"--{flag.flag}={path!r} holds {control[0]!r}, a control character "
            "(was it read from a file with other line ends?); leave it out"
        )
    if path.startswith("file:") and flag.kind in OUTPUTS:
        raise ValueError(f"{flag}: give the path alone, without file://")
    if is_remote(path) and flag.kind in (Kind.RUN_FOLDER, Kind.EXPORT_FOLDER):
        raise ValueError(
            f"{flag} is not a path on this machine, where checkpoints and "
            "exports are written; give one, and copy the folder"
        )
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"--{flag.flag}={path!r} is not valid UTF-8; rename the file"
        ) from None


def _check_type(flag: PathFlag, path: str) -> None:
    """Refuses a file where a folder is needed, or the reverse.

    Raises:
        OSError: it is the wrong kind, or an output that cannot be written.
    """
    if flag.kind in FILES:
        if os.path.isdir(path) or (
            flag.kind in OUTPUTS and path.endswith(os.sep)
        ):
            raise IsADirectoryError(
                f"{flag}: {path} is a folder; give the path of a file"
            )
    elif flag.kind is not Kind.MODEL and not flag.is_prefix:
        # With a trailing slash, a link counts as its target.
        path = path.rstrip(os.sep) or os.sep
        if flag.kind is Kind.EXPORT_FOLDER and os.path.islink(path):
            raise ValueError(
                f"{flag} is a symbolic link, which an export would replace; "
                "give the folder itself"
            )
        if os.path.islink(path) and not os.path.exists(path):
            raise FileNotFoundError(
                f"{flag} is a symbolic link to {os.readlink(path)}, which is "
                "not there; give a folder"
            )
        if os.path.exists(path) and not os.path.isdir(path):
            raise NotADirectoryError(
                f"{flag} is a file; give the path of a folder"
            )
    if flag.kind in OUTPUTS:
        _check_writable(flag, path)


def _check_writable(flag: PathFlag, path: str) -> None:
    path = os.path.realpath(path)
    is_file = flag.kind in FILES or flag.is_prefix
    if is_file and os.path.exists(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(
                f"{flag} is write-protected; give another path, or remove it"
            )
        if not os.path.isfile(path):
            # A FIFO or a device is written in place.
            return
    # An export is written next to its folder, and then renamed.
    is_next_to = is_file or flag.kind is Kind.EXPORT_FOLDER
    folder = os.path.dirname(path) if is_next_to else path
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return
    reason = "write-protected" if os.path.isdir(folder) else "not a folder"
    raise OSError(
        f"{flag} cannot be written: {folder} is {reason}; give another path"
    )
