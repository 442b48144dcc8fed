"""Checks the paths in all flags before a script starts its work.

There is one rule: an output is not, contains not and lies not in an input or
another output. Two paths are equal if they lead to the same file, for example
`a`, `./a`, a symbolic link to `a` and a hard link to `a`.
"""

import contextlib
import dataclasses
import enum
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from files.patterns import find_matches

StrPath = str | os.PathLike[str]


class Kind(enum.Enum):
    """Kind of a path in a flag."""

    INPUT_FILE = "input file"
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
    # A folder that is written at once, and replaced completely (folders.py).
    NEW_FOLDER = "folder of a model"


_OUTPUT_FILES = (Kind.OUTPUT_FILE, Kind.OUTPUT_FILES)
_OUTPUT_FOLDERS = (Kind.RUN_FOLDER, Kind.NEW_FOLDER)
OUTPUTS = (*_OUTPUT_FILES, *_OUTPUT_FOLDERS)


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
    def is_output(self) -> bool:
        """Whether the script writes to the path."""
        return self.kind in OUTPUTS

    @property
    def parts(self) -> list[str]:
        """The paths in the flag's value, which may be comma-separated."""
        if self.kind is Kind.RUNS:
            return [folder for _, folder in named_folders(self.value)]
        if self.kind in (Kind.INPUT_FILES, Kind.OUTPUT_FILES):
            parts = [*map(str.strip, self.value.split(","))]
            # A list of inputs may end in a comma, as shells write such lists.
            return [*filter(None, parts)] if not self.is_output else parts
        return [self.value]

    @property
    def lock_file(self) -> str | None:
        """Path of the lock file of an output folder. None for other paths.

        Output files need no lock, because each is written under a temporary
        name and then renamed.
        """
        if self.kind is Kind.NEW_FOLDER:
            return f"{os.path.normpath(self.value)}.lock"
        is_run = self.kind is Kind.RUN_FOLDER
        return os.path.join(self.value, ".lock") if is_run else None


# A flag, and a file or folder that it names.
_Place = tuple[PathFlag, str]


def is_remote(path: StrPath) -> bool:
    """Returns whether a path contains a scheme, such as `gs://`."""
    return "://" in os.fspath(path)


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


def check_paths(given: Sequence[PathFlag]) -> None:
    """Checks the paths that flags name, and reports the first problem.

    Raises:
        ValueError: a path is empty, or an output overlaps another path.
        OSError: an output file cannot be written.
    """
    places: list[_Place] = []
    for flag in given:
        if not all(map(str.strip, flag.parts)) or not flag.parts:
            raise ValueError(
                f"{flag}: a path is empty, perhaps because a shell variable is "
                "not set. Use a path, or remove the flag"
            )
        for path in flag.parts:
            _check_output(flag, path)
            places += [(flag, found) for found in _find_places(flag, path)]
    lineages = [_lineage(path) for _, path in places]
    every = [*zip(places, lineages, strict=True)]
    for place, lineage in every:
        for other, others in every if place[0].is_output else ():
            is_inside = others[0] in lineage[1:]
            is_apart = not is_inside and lineage[0] not in others
            if is_apart or _may_overlap(place, other, is_inside):
                continue
            names = [
                f"{flag}" if path == flag.value else f"{flag} ({path})"
                for flag, path in (place, other)
            ]
            raise ValueError(
                f"{names[0]} overlaps {names[1]}. An output must not be, "
                "contain or lie in an input or another output; change one of "
                "the two paths"
            )


def _check_output(flag: PathFlag, path: str) -> None:
    """Raises an error for an output that would fail after the work is done."""
    if flag.kind in _OUTPUT_FOLDERS and is_remote(path):
        raise ValueError(f"{flag} must be a local folder; copy it afterward")
    if flag.kind not in _OUTPUT_FILES or is_remote(path):
        return
    if os.path.isdir(path) or path.endswith(os.sep):
        raise IsADirectoryError(f"{flag}: {path} is a folder, not a file")
    if os.path.exists(path) and not os.path.isfile(path):
        # Bytes are written to a FIFO or a device directly.
        return
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    is_protected = os.path.exists(path) and not os.access(path, os.W_OK)
    is_folder = os.path.isdir(folder) and os.access(folder, os.W_OK)
    if is_protected or not is_folder:
        raise PermissionError(f"{flag}: you may not write to this path")


def _may_overlap(output: _Place, other: _Place, is_inside: bool) -> bool:
    """Returns whether the places of two flags may overlap.

    A run may read the weights in its own folder. Folders of data and of runs
    are read by the names of their files, so an output may lie inside.
    """
    kind = other[0].kind
    if output[0].kind is Kind.RUN_FOLDER:
        if kind is Kind.MODEL or other[0] is output[0]:
            return True
    return other is output or (
        is_inside and kind in (Kind.DATA_FOLDER, Kind.RUNS)
    )


def _find_places(flag: PathFlag, path: str) -> Iterator[str]:
    """Yields the files and folders that a path of a flag leads to."""
    path = path.removeprefix("file://")
    if is_remote(path):
        yield path
        return
    if flag.kind is Kind.INPUT_FILES:
        yield from find_matches(path)
        return
    if not Path(path).is_char_device():
        # Skip terminals and /dev/null, which may be read and written.
        yield path
    if flag.kind is Kind.MODEL and not os.path.isdir(path):
        yield from glob.glob(f"{glob.escape(path)}.*")
    if flag.kind is Kind.RUN_FOLDER and os.path.isdir(path):
        # A run writes through links in its folder, to their targets.
        for entry in os.scandir(path):
            if entry.is_symlink() and entry.is_file():
                yield entry.path


def _lineage(path: str) -> list[object]:
    """Returns what identifies a path, followed by each folder above it."""
    if is_remote(path):
        parts = path.rstrip("/").split("/")
        ends = range(len(parts), 2, -1)
        return ["/".join(parts[:end]) for end in ends] or [path]
    local = Path(os.path.realpath(path))
    return [*map(_identify, (local, *local.parents))]


def _identify(path: Path) -> object:
    with contextlib.suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return path
