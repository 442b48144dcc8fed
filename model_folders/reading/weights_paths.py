"""Checks the path of weights, and finds the folder of a checkpoint."""

import glob
import os
import re

from files.paths import StrPath


def check_exists(path: str, flag: str = "") -> None:
    """Checks that there is a folder, or a checkpoint, with this path.

    Raises:
        FileNotFoundError: nothing exists at the path. The message names the
            flag.
    """
    files = glob.iglob(f"{glob.escape(path)}.*")
    if os.path.exists(path) or any(files):
        return
    error = f"{flag}={path} does not exist".removeprefix("=")
    if re.fullmatch(r"\w[\w.-]*(/[\w.-]+)?", path):
        name = path if "/" in path else f"OWNER/{path}"
        error += f"; for a model of the hub, use hf://{name}"
    raise FileNotFoundError(error)


def folder_of(path: StrPath) -> str:
    """Returns the folder of a checkpoint. A folder is returned unchanged."""
    path = os.fspath(path)
    return (path if os.path.isdir(path) else os.path.dirname(path)) or "."
