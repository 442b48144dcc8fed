"""Checks the paths in all flags before a script starts its work.

An output must not overwrite an input or another output. Two paths are equal if
they lead to the same file, for example `a`, `./a`, a symbolic link to `a` and a
hard link to `a`.
"""

import dataclasses
import functools
import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from files import manifests
from files.atomic import is_remote
from files.paths import FILES, OUTPUTS, Kind, PathFlag
from files.patterns import find_matches
from files.run_files import BEST, is_run_file

# Line ends, tabs and other control characters. Nobody uses them in a path on
# purpose.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Suffixes that create_pretraining_data.py appends to the output's name.
_SHARD = re.compile(
    r"(-\d{5,}-of-\d{5,}|\.manifest\.json|\.lock|\.work)(\.partial-\d+)?"
)


def check_paths(given: Sequence[PathFlag]) -> None:
    """Checks the paths that flags name, and reports the first problem.

    Raises:
        ValueError: a path is empty or invalid, an output overlaps a file or
            folder that it must not change, or a model would replace files that
            this project did not write.
        OSError: a path is a folder instead of a file or the reverse, or an
            output cannot be written.
    """
    paths = [(flag, path) for flag in given for path in flag.parts]
    for flag, path in paths:
        _check_text(flag, path)
    for flag, path in paths:
        if not is_remote(path):
            _check_type(flag, path)
            if flag.kind in OUTPUTS:
                _check_writable(flag, path)
    _check_overlaps(given)
    for flag in given:
        if flag.kind is Kind.MODEL_OUTPUT and not is_remote(flag.value):
            folder, names = manifests.release_files(flag.value)
            others = manifests.DESCRIPTIONS
            if not flag.is_prefix:
                # The format of the model is not known yet, so check the file
                # names of all formats.
                others = manifests.MODEL_FILES
            manifests.check(folder, {*names, *others}, str(flag))


def lock_path(flag: PathFlag) -> str | None:
    """Returns the path of the lock file for the output that a flag names.

    Returns None for inputs, remote paths and outputs that are files. Files need
    no lock, because each is written under a temporary name and then renamed.
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
            raise ValueError(f"{flag}: one of the names is empty; remove it")
        raise ValueError(
            f"--{flag.flag}= is empty, perhaps because a shell variable is not "
            "set. Use a path, or remove the flag"
        )
    if control := _CONTROL.search(path):
        raise ValueError(
            f"--{flag.flag}={path!r} contains {control[0]!r}, a control "
            "character, perhaps from Windows's line ends. Remove the "
            "character"
        )
    if path.startswith("file:") and flag.kind in OUTPUTS:
        raise ValueError(f"{flag}: write the path without file://")
    if is_remote(path) and flag.kind in (Kind.RUN_FOLDER, Kind.EXPORT_FOLDER):
        raise ValueError(
            f"{flag} is a remote path, but checkpoints and exports are written "
            "to this machine; use a local path, and copy the folder"
        )
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"--{flag.flag}={path!r}: the path is not UTF-8; rename it"
        ) from None


def _check_type(flag: PathFlag, path: str) -> None:
    """Raises an error for a file where `flag` needs a folder, or vice versa."""
    if flag.kind in FILES:
        is_new_folder = flag.kind in OUTPUTS and path.endswith(os.sep)
        if os.path.isdir(path) or is_new_folder:
            raise IsADirectoryError(
                f"{flag}: {path} is a folder; use the path of a file"
            )
        return
    if flag.kind is Kind.MODEL or flag.is_prefix:
        return
    # Remove a final slash, because `islink` returns False for `link/`.
    path = path.rstrip(os.sep) or os.sep
    if flag.kind is Kind.EXPORT_FOLDER and os.path.islink(path):
        raise ValueError(
            f"{flag} is a symbolic link, which an export would replace; "
            "use the folder itself"
        )
    if os.path.islink(path) and not os.path.exists(path):
        raise FileNotFoundError(
            f"{flag} is a symbolic link to {os.readlink(path)}, which does "
            "not exist; use a folder"
        )
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"{flag} is a file; use the path of a folder")


def _check_writable(flag: PathFlag, path: str) -> None:
    path = os.path.realpath(path)
    is_file = flag.kind in FILES or flag.is_prefix
    if is_file and os.path.exists(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(
                f"{flag} is write-protected; use another path, or delete the "
                "file"
            )
        if not os.path.isfile(path):
            # Do not check the folder of a FIFO or device, because no file is
            # created in it.
            return
    # Files and exports are first written under a temporary name in the parent
    # folder, so the parent folder must be writable.
    is_next_to = is_file or flag.kind is Kind.EXPORT_FOLDER
    folder = os.path.dirname(path) if is_next_to else path
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return
    reason = "write-protected" if os.path.isdir(folder) else "not a folder"
    raise OSError(
        f"{flag} cannot be written: {folder} is {reason}; use another path"
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Place:
    """A file or folder that a flag names, with all its parent folders."""

    flag: PathFlag
    path: str
    # (device, inode) of the file or folder, or its path if it does not exist,
    # followed by the same for each parent folder. Two paths to one file have
    # equal lineages.
    lineage: Sequence[object]

    @property
    def kind(self) -> Kind:
        return self.flag.kind

    def __str__(self) -> str:
        path = "" if self.path == self.flag.value else f" ({self.path})"
        return f"{self.flag}{path}"


def _check_overlaps(given: Sequence[PathFlag]) -> None:
    """Raises an error if an output could overwrite the path of another flag."""
    _identity.cache_clear()
    places = [place for flag in given for place in _find_places(flag)]
    at: dict[object, list[_Place]] = {}
    for place in places:
        at.setdefault(place.lineage[0], []).append(place)
    for inner in places:
        for depth, key in enumerate(inner.lineage):
            for outer in at.get(key, ()):
                if outer is inner:
                    continue
                # The loops compare two equal paths twice, as (a, b) and as
                # (b, a). Report the pair only if its first path is an output.
                if depth == 0 and inner.kind in OUTPUTS:
                    _check_equal(inner, outer)
                elif depth and (
                    not {inner.kind, outer.kind}.isdisjoint(OUTPUTS)
                ):
                    _check_inside(inner, outer, is_direct=depth == 1)
    for output in places:
        if output.kind is Kind.OUTPUT_FILES and not is_remote(output.path):
            _check_shards(output, places)


def _check_equal(output: _Place, other: _Place) -> None:
    if {output.kind, other.kind} == {Kind.RUN_FOLDER, Kind.MODEL}:
        # Allow equal paths, because a run may read the model in its own folder.
        return
    if output.flag == other.flag:
        raise ValueError(
            f"{output.flag}: {other.path} is named twice. Use different paths"
        )
    raise ValueError(
        f"{output} and {other} are the same file or folder; change one path"
    )


def _check_inside(inner: _Place, outer: _Place, is_direct: bool) -> None:
    """Raises an error if `inner` must not be inside `outer`.

    `is_direct` is True if `outer` is the parent folder of `inner`.
    """

    def refuse(reason: str) -> NoReturn:
        raise ValueError(
            f"{inner} is inside {outer}: {reason}; change one of the paths"
        )

    is_input = inner.kind not in OUTPUTS
    if Kind.EXPORT_FOLDER in (inner.kind, outer.kind):
        if outer.kind is Kind.DATA_FOLDER:
            return
        refuse("an export needs a folder of its own")
    if outer.kind in FILES:
        refuse("a file cannot contain another file")
    if outer.kind is Kind.MODEL and inner.kind in FILES:
        refuse("the folder contains a model to read")
    if outer.kind is Kind.MODEL_OUTPUT and is_input and is_direct:
        if not os.path.isdir(inner.path):
            refuse("the model could overwrite the input")
    if (outer.kind, inner.kind) == (Kind.RUN_FOLDER, Kind.MODEL_OUTPUT):
        folder = manifests.release_files(inner.flag.value)[0]
        place = os.path.relpath(*map(os.path.realpath, (folder, outer.path)))
        if place in (".", BEST):
            refuse("the run writes its own weights to that folder")
    if outer.kind is Kind.RUN_FOLDER and is_direct:
        is_other = is_input and inner.kind is not Kind.MODEL
        # Check the name of a link's target too, because writing to the link
        # changes the target.
        paths = inner.path, os.path.realpath(inner.path)
        if (is_other or inner.kind in FILES) and any(
            is_run_file(os.path.basename(path)) for path in paths
        ):
            refuse("the run writes a file of that name")


def _check_shards(output: _Place, places: Sequence[_Place]) -> None:
    """Raises an error if an input is a shard that `output` could replace.

    create_pretraining_data.py names its shards after the output. The input may
    also be a link to a shard.
    """
    parts = {
        _identity(os.path.realpath(path))
        for path in glob.iglob(f"{glob.escape(output.path)}*")
        if _SHARD.fullmatch(path[len(output.path) :])
    }
    for place in places:
        if place.kind not in OUTPUTS and not parts.isdisjoint(place.lineage):
            raise ValueError(
                f"{place} is named like a shard of {output}, so writing the "
                "output could overwrite this input; change one of the paths"
            )


def _find_places(flag: PathFlag) -> Iterator[_Place]:
    """Yields a _Place for each file or folder that a flag names.

    Skips missing inputs, and devices such as /dev/null and terminals.
    """
    for part in flag.parts:
        part = part.removeprefix("file://")
        if is_remote(part):
            yield _Place(flag, part, _lineage(part))
            continue
        for path in _matches(flag, part):
            is_missing = flag.kind not in OUTPUTS and not os.path.exists(path)
            file = Path(path)
            if is_missing or file.is_char_device() or file.is_block_device():
                continue
            lineage = _lineage(os.path.realpath(path))
            yield _Place(flag, path, lineage)
            if flag.kind is Kind.RUN_FOLDER and os.path.isdir(path):
                # If one of the run's files is a symbolic link, the run writes
                # to the link's target, so check the target too.
                for entry in os.scandir(path):
                    if entry.is_symlink() and is_run_file(entry.name):
                        target = _lineage(os.path.realpath(entry.path))
                        yield _Place(flag, entry.path, target)
            if flag.kind not in OUTPUTS and os.path.islink(path):
                # Add the folders above the link itself, because an output in
                # one of them could replace the link.
                folder = os.path.realpath(os.path.dirname(path))
                yield _Place(flag, path, [lineage[0], *_lineage(folder)])


def _matches(flag: PathFlag, path: str) -> list[str]:
    """Returns the local files or folders that a flag's `path` matches."""
    if flag.kind is Kind.INPUT_FILES:
        return find_matches(path)
    if flag.kind is Kind.MODEL and (
        os.path.exists(f"{path}.index") or not os.path.exists(path)
    ):
        return [path, *glob.glob(f"{glob.escape(path)}.*")]
    if flag.kind is Kind.RUNS:
        # Tools that compare runs read these files in the folder.
        histories = glob.glob(f"{glob.escape(path)}/**/history.jsonl")
        return [path, f"{path}/history.jsonl", *histories]
    if flag.is_prefix:
        return [f"{path}{ending}" for ending in manifests.ENDINGS]
    return [path]


@functools.lru_cache(maxsize=4096)
def _identity(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return path
    return status.st_dev, status.st_ino


def _lineage(path: str) -> list[object]:
    """Returns `_identity` of a real path and of each folder above it."""
    if is_remote(path):
        scheme, _, rest = path.partition("://")
        # Do not use pathlib, because it changes a//x to a/x, which is a
        # different file in remote storage.
        parts = rest.strip("/").split("/")
        lengths = range(len(parts), 0, -1)
        return [f"{scheme}://{'/'.join(parts[:length])}" for length in lengths]
    return [*map(_identity, [path, *map(str, Path(path).parents)])]
