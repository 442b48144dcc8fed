"""Defines the kinds of paths in flags, and adds paths to system errors."""

import contextlib
import dataclasses
import enum
import os
from collections.abc import Iterator

StrPath = str | os.PathLike[str]


class Kind(enum.Enum):
    """Kind of a path, which determines how path_checks.py checks the path."""

    INPUT_FILE = "input file"
    # Comma-separated paths or patterns.
    INPUT_FILES = "input files"
    DATA_FOLDER = "folder of input files"
    # Comma-separated folders, each optionally with a name: NAME=FOLDER.
    RUNS = "folders of runs to read"
    # Prefix of a checkpoint, a file of weights, or a folder with a checkpoint.
    MODEL = "model to read"
    OUTPUT_FILE = "output file"
    # Comma-separated paths.
    OUTPUT_FILES = "output files"
    # A folder for checkpoints, TFRecords and results. A resumed run reads them.
    RUN_FOLDER = "folder of a run"
    # A folder for weights and their configuration, or the prefix of a
    # checkpoint, which ends in `.ckpt`.
    MODEL_OUTPUT = "model to write"
    # A folder that an export replaces completely.
    EXPORT_FOLDER = "folder of an export"


_OUTPUT_FILES = (Kind.OUTPUT_FILE, Kind.OUTPUT_FILES)
FILES = (Kind.INPUT_FILE, Kind.INPUT_FILES, *_OUTPUT_FILES)
_FOLDERS = (Kind.RUN_FOLDER, Kind.MODEL_OUTPUT, Kind.EXPORT_FOLDER)
OUTPUTS = (*_OUTPUT_FILES, *_FOLDERS)


@dataclasses.dataclass(frozen=True)
class PathFlag:
    """A flag whose value is a path, as the user typed it."""

    flag: str
    value: str
    kind: Kind

    def __str__(self) -> str:
        """Returns the flag as the user typed it."""
        return f"--{self.flag}={self.value}"

    @property
    def is_prefix(self) -> bool:
        """Whether the value is a checkpoint's prefix instead of a folder."""
        return self.kind is Kind.MODEL_OUTPUT and self.value.endswith(".ckpt")

    @property
    def parts(self) -> list[str]:
        """The paths in the flag's value, which may be comma-separated."""
        if self.kind is Kind.OUTPUT_FILES:
            return self.value.split(",")
        # If the value consists of commas only, return it as one path, so that
        # the caller reports it.
        if self.value.replace(",", " ").strip():
            if self.kind is Kind.RUNS:
                return [folder for _, folder in named_folders(self.value)]
            if self.kind is Kind.INPUT_FILES:
                return [*filter(None, map(str.strip, self.value.split(",")))]
        return [self.value]


def named_folders(value: str) -> list[tuple[str, str]]:
    """Parses comma-separated folders, each of them NAME=FOLDER or FOLDER.

    Returns (name, folder) for each. The name of a FOLDER without NAME is "".
    """
    found = []
    for part in filter(None, map(str.strip, value.split(","))):
        name, separator, folder = part.partition("=")
        is_named = separator and not os.path.exists(part)
        found.append((name, folder) if is_named else ("", part))
    return found


@contextlib.contextmanager
def named_errors(path: StrPath) -> Iterator[None]:
    """Adds `path` to an OSError in a `with` block, if the error names no file.

    Python names the file in errors of `open`, but not in errors of reading and
    writing.

    Raises:
        OSError: the error of the block, with the same error number and type.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(
                error.errno, error.strerror, os.fspath(path)
            ) from error
        raise
