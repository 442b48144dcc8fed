"""The types of paths in the values of options, and how two types are written.

`PathType` says whether a path is read or written, so that path_flags.py can
check the paths of a command before any work.
"""

import enum
import os

# Folder of a run's lock, records and events, which only the run itself reads.
# It is in each folder of PathType.RUN_FOLDER.
STATE_FOLDER = "state"


class PathType(enum.Enum):
    """Types of paths in flags. A type tells whether the path is read."""

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
