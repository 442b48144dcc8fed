"""Flags whose values are paths: the paths in their values, and the checks.

There is one rule for the paths of a command, which `check_paths` checks before
any work: an output is not, contains not and lies not in an input or another
output. Two paths are equal if they lead to the same file, for example `a`,
`./a`, a symbolic link to `a` and a hard link to `a`.
"""

import dataclasses
import glob
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from files.paths import is_remote, list_matches
from options.config import Config
from options.fields import PathType

# Folder of a run's lock, records and events, which only the run itself reads.
# It is in each folder of PathType.RUN_FOLDER.
STATE_FOLDER = "state"

# Endings of a run's files, which a table or an image of runs must not replace.
_ENDINGS_OF_RUN_FILES = (
    "eval_results.txt",
    "history.jsonl",
    "model.json",
    ".index",
)
_OUTPUT_FOLDER_TYPES = (PathType.RUN_FOLDER, PathType.NEW_FOLDER)
_LIST_TYPES = (PathType.INPUT_FILES, PathType.OUTPUT_FILES, PathType.RUNS)
OUTPUT_TYPES = (
    PathType.OUTPUT_FILE,
    PathType.OUTPUT_FILES,
    *_OUTPUT_FOLDER_TYPES,
)


@dataclasses.dataclass(frozen=True)
class PathFlag:
    """A flag whose value is a path, as the user typed it."""

    flag: str
    value: str
    path_type: PathType

    def __str__(self) -> str:
        """Returns the flag as the user typed it."""
        return f"--{self.flag}={self.value}"

    @property
    def paths(self) -> list[str]:
        """The paths in the flag's value, which may be comma-separated."""
        if self.path_type is PathType.RUNS:
            named_folders = parse_named_folders(self.value)
            return [named.folder for named in named_folders]
        if self.path_type is PathType.OUTPUT_FILES:
            return [*map(str.strip, self.value.split(","))]
        if self.path_type is PathType.INPUT_FILES:
            # The list may end in a comma, because shells write such lists.
            return [*filter(None, map(str.strip, self.value.split(",")))]
        if self.path_type is PathType.CODE:
            return [split_file_and_name(self.value).file]
        return [self.value]

    @property
    def lock_file(self) -> str | None:
        """Path of the lock file of an output folder. None for other paths."""
        if self.path_type is PathType.NEW_FOLDER:
            return f"{os.path.normpath(self.value)}.lock"
        is_run = self.path_type is PathType.RUN_FOLDER
        return (
            os.path.join(self.value, STATE_FOLDER, ".lock") if is_run else None
        )


class NamedFolder(NamedTuple):
    """A folder of a flag.

    Attributes:
        name: the name that the user gave to it, "" if there is none.
        folder: path of the folder.
    """

    name: str
    folder: str


def parse_named_folders(value: str) -> list[NamedFolder]:
    """Parses comma-separated folders, each of them NAME=FOLDER or FOLDER."""
    folders = []
    for part in filter(None, map(str.strip, value.split(","))):
        name, separator, folder = part.partition("=")
        is_named = separator and not os.path.exists(part)
        if not is_named:
            name, folder = "", part
        folders.append(NamedFolder(name, folder))
    return folders


class FileAndName(NamedTuple):
    """A flag FILE:NAME.

    Attributes:
        file: path of the file.
        name: what to take from the file, "" if it is missing.
    """

    file: str
    name: str


def split_file_and_name(value: str) -> FileAndName:
    """Splits FILE:NAME at its last colon. The name may be missing."""
    file, separator, name = value.rpartition(":")
    return FileAndName(file, name) if separator else FileAndName(value, "")


def list_path_flags(config: Config) -> list[PathFlag]:
    """Returns a PathFlag for each flag whose value is a path."""
    values = config.option_values()
    flags_with_paths = []
    for option in config.list_options():
        path_type = option.path_type
        value = values[option.name]
        if path_type is not None and value is not None:
            flags_with_paths.append(
                PathFlag(option.name, str(value), path_type)
            )
    return flags_with_paths


def expand_home(value: str, path_type: PathType) -> str:
    """Replaces `~/` and `~USER/` at the beginning of the paths in a flag.

    A shell does not replace `~` after the `=` of --output_dir=~/run.

    Args:
        value: value of the flag.
        path_type: type of the paths. Commas separate the paths of some types.
    """
    if path_type not in _LIST_TYPES:
        return os.path.expanduser(value)
    beginning = r"^\s*|,\s*|=" if path_type is PathType.RUNS else r"^\s*|,\s*"
    return re.sub(
        rf"({beginning})(~[^/,]*)",
        lambda match: match[1] + os.path.expanduser(match[2]),
        value,
    )


def check_paths(flags: Sequence[PathFlag]) -> None:
    """Checks the paths that flags name, and reports the first problem.

    Raises:
        ValueError: a path is empty, or an output overlaps another path.
        OSError: an output file cannot be written.
    """
    flag_paths: list[_ResolvedPath] = []
    for flag in flags:
        if not all(map(str.strip, flag.paths)) or not flag.paths:
            raise ValueError(
                f"{flag}: a path is empty, perhaps because a shell variable is "
                "not set. Use a path, or remove the flag"
            )
        for path in flag.paths:
            _check_output(flag, path)
            local_path = path.removeprefix("file://")
            flag_paths += [
                _ResolvedPath(flag, single_path, _lineage_of(single_path))
                for single_path in _list_paths(flag, local_path)
            ]
    outputs = [
        path for path in flag_paths if path.flag.path_type in OUTPUT_TYPES
    ]
    for output, other in itertools.product(outputs, flag_paths):
        if _may_harm(output, other):
            raise ValueError(
                f"{output} overlaps {other}. An output must not be, "
                "contain or lie in an input or another output; change one of "
                "the two paths"
            )


class _ResolvedPath(NamedTuple):
    """A file or folder that a flag leads to.

    Attributes:
        flag: the flag, which the message of an error names.
        path: path of the file or folder.
        lineage: keys of the path and of the folders above it, from
            `_lineage_of`.
    """

    flag: PathFlag
    path: str
    lineage: list[object]

    def __str__(self) -> str:
        if self.path == self.flag.value:
            return f"{self.flag}"
        return f"{self.flag} ({self.path})"


def _may_harm(output: _ResolvedPath, other: _ResolvedPath) -> bool:
    """Returns whether writing an output may change another path."""
    if other is output:
        return False
    is_inside = other.lineage[0] in output.lineage[1:]
    if not is_inside and output.lineage[0] not in other.lineage:
        return False
    other_flag = other.flag
    is_run = output.flag.path_type is PathType.RUN_FOLDER
    # A run reads its own weights, and writes through its links.
    if is_run and (
        other_flag is output.flag or other_flag.path_type is PathType.MODEL
    ):
        return False
    # A script reads files of known names from such a folder, so an output
    # inside the folder does no harm.
    if is_inside and other_flag.path_type is PathType.DATA_FOLDER:
        return False
    if is_inside and other_flag.path_type is PathType.RUNS:
        return output.path.endswith(_ENDINGS_OF_RUN_FILES)
    return True


def _check_output(flag: PathFlag, path: str) -> None:
    """Raises an error for an output that would fail after the work is done."""
    is_folder = flag.path_type in _OUTPUT_FOLDER_TYPES
    if is_folder and is_remote(path):
        raise ValueError(f"{flag} must be a local folder; copy it afterward")
    if is_folder or flag.path_type not in OUTPUT_TYPES or is_remote(path):
        return
    if os.path.isdir(path) or path.endswith(os.sep):
        raise IsADirectoryError(f"{flag}: {path} is a folder, not a file")
    if os.path.exists(path) and not os.path.isfile(path):
        # Bytes are written to a FIFO or a device directly.
        return
    file = Path(os.path.realpath(path))
    folder = next(filter(Path.exists, file.parents))
    is_protected = file.exists() and not os.access(file, os.W_OK)
    if is_protected or not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise PermissionError(f"{flag}: you may not write to this path")


def _list_paths(flag: PathFlag, path: str) -> Iterator[str]:
    """Yields the files and folders that a path of a flag leads to."""
    if flag.path_type is PathType.INPUT_FILES and not is_remote(path):
        yield from list_matches(path)
    elif not Path(path).is_char_device():
        # Terminals and /dev/null may be read and written.
        yield path
    if flag.path_type is PathType.MODEL and not os.path.isdir(path):
        yield from glob.glob(f"{glob.escape(path)}.*")
    if flag.path_type is PathType.RUN_FOLDER and os.path.isdir(path):
        # A run writes through links in its folder, to their targets.
        links = filter(os.DirEntry.is_symlink, os.scandir(path))
        yield from (
            link.path
            for link in links
            if link.is_file() or link.name == STATE_FOLDER
        )


def _lineage_of(path: str) -> list[object]:
    """Returns the key of a path, then the keys of the folders above it.

    Paths with equal keys lead to the same file, even through links.
    """
    if is_remote(path):
        remote = PurePosixPath(path)
        return [remote, *remote.parents[:-1]]
    local = Path(os.path.realpath(path))
    lineage: list[object] = []
    for ancestor in (local, *local.parents):
        status = ancestor.stat() if ancestor.exists() else None
        lineage.append((status.st_dev, status.st_ino) if status else ancestor)
    return lineage
