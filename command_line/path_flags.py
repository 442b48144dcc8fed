"""Defines the flags whose values are paths: their kinds, and how to parse them.

path_checks.py checks the paths.
"""

import dataclasses
import enum
import os
import re

# Folder of a run's lock, records and events, which only the run itself reads.
STATE_FOLDER = "state"


class PathKind(enum.Enum):
    """Kinds of paths in flags. A kind tells whether the path is read."""

    INPUT_FILE = "input file"
    # FILE:NAME, a name that a file of Python code defines.
    CODE = "file of code"
    # Comma-separated paths or patterns.
    INPUT_FILES = "input files"
    DATA_FOLDER = "folder of input files"
    # Comma-separated folders, each optionally with a name: NAME=FOLDER.
    RUNS = "folders of runs to read"
    # A folder of weights, the prefix of a checkpoint, or one file of a model.
    MODEL = "model to read"
    OUTPUT_FILE = "output file"
    # Comma-separated paths.
    OUTPUT_FILES = "output files"
    # A folder for checkpoints, TFRecords and results. A resumed run reads them.
    RUN_FOLDER = "folder of a run"
    # A folder that is written at once and replaced completely, as in
    # model_folders/atomic_folders.py.
    NEW_FOLDER = "folder of a model"


KINDS_OF_OUTPUT_FOLDERS = (PathKind.RUN_FOLDER, PathKind.NEW_FOLDER)
_KINDS_OF_LISTS = (PathKind.INPUT_FILES, PathKind.OUTPUT_FILES, PathKind.RUNS)
OUTPUT_KINDS = (
    PathKind.OUTPUT_FILE,
    PathKind.OUTPUT_FILES,
    *KINDS_OF_OUTPUT_FOLDERS,
)


@dataclasses.dataclass(frozen=True)
class PathFlag:
    """A flag whose value is a path, as the user typed it."""

    flag: str
    value: str
    kind: PathKind

    def __str__(self) -> str:
        """Returns the flag as the user typed it."""
        return f"--{self.flag}={self.value}"

    @property
    def paths(self) -> list[str]:
        """The paths in the flag's value, which may be comma-separated."""
        if self.kind is PathKind.RUNS:
            return [folder for _, folder in parse_named_folders(self.value)]
        if self.kind is PathKind.OUTPUT_FILES:
            return [*map(str.strip, self.value.split(","))]
        if self.kind is PathKind.INPUT_FILES:
            # The list may end in a comma, because shells write such lists.
            return [*filter(None, map(str.strip, self.value.split(",")))]
        if self.kind is PathKind.CODE:
            return [split_file_and_name(self.value)[0]]
        return [self.value]

    @property
    def lock_file(self) -> str | None:
        """Path of the lock file of an output folder. None for other paths."""
        if self.kind is PathKind.NEW_FOLDER:
            return f"{os.path.normpath(self.value)}.lock"
        is_run = self.kind is PathKind.RUN_FOLDER
        return (
            os.path.join(self.value, STATE_FOLDER, ".lock") if is_run else None
        )


def expand_home(value: str, kind: PathKind) -> str:
    """Replaces `~/` and `~USER/` at the beginning of the paths in a flag.

    A shell does not replace `~` after the `=` of --output_dir=~/run.

    Args:
        value: value of the flag.
        kind: kind of the flag. Commas separate the paths of some kinds.
    """
    if kind not in _KINDS_OF_LISTS:
        return os.path.expanduser(value)
    beginning = r"^\s*|,\s*|=" if kind is PathKind.RUNS else r"^\s*|,\s*"
    return re.sub(
        rf"({beginning})(~[^/,]*)",
        lambda match: match[1] + os.path.expanduser(match[2]),
        value,
    )


def parse_named_folders(value: str) -> list[tuple[str, str]]:
    """Parses comma-separated folders, each of them NAME=FOLDER or FOLDER.

    Returns (name, folder) for each. The name of a FOLDER without NAME is "".
    """
    folders = []
    for part in filter(None, map(str.strip, value.split(","))):
        name, separator, folder = part.partition("=")
        is_named = separator and not os.path.exists(part)
        folders.append((name, folder) if is_named else ("", part))
    return folders


def split_file_and_name(value: str) -> tuple[str, str]:
    """Returns the file and the name of FILE:NAME, "" for a missing name."""
    file, separator, name = value.rpartition(":")
    return (file, name) if separator else (name, "")
