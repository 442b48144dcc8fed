"""Checks the paths that flags name, all together and before any work.

No output may take the place of an input or of another output, whatever the
path looks like: `a`, `./a`, a symbolic link to it and a hard link to it are
one file.
"""

import dataclasses
import enum
import functools
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import NoReturn

from files import manifests
from files.atomic import is_remote


class Kind(enum.Enum):
    """Kinds of path that a flag names, and so what may happen to it."""

    INPUT_FILE = "input file"
    # Comma-separated paths or patterns.
    INPUT_FILES = "input files"
    DATA_FOLDER = "folder of input files"
    # Comma-separated, each with a name or without: NAME=FOLDER.
    RUNS = "folders of runs to read"
    # A checkpoint's prefix, one file, or a folder with everything in it.
    MODEL = "model to read"
    # Comma-separated; each is checked as a MODEL.
    MODELS = "models to read"
    OUTPUT_FILE = "output file"
    # Comma-separated.
    OUTPUT_FILES = "output files"
    # Checkpoints, records and results; a resumed run reads them again.
    RUN_FOLDER = "folder of a run"
    # A checkpoint with its configuration, or the prefix of one (`.ckpt`).
    MODEL_OUTPUT = "model to write"
    # A SavedModel, replaced as a whole.
    EXPORT_FOLDER = "folder of an export"


INPUTS = (
    Kind.INPUT_FILE,
    Kind.INPUT_FILES,
    Kind.DATA_FOLDER,
    Kind.RUNS,
    Kind.MODEL,
    Kind.MODELS,
)
_OUTPUTS = tuple(kind for kind in Kind if kind not in INPUTS)
_FILES = (
    Kind.INPUT_FILE,
    Kind.INPUT_FILES,
    Kind.OUTPUT_FILE,
    Kind.OUTPUT_FILES,
)

# What a run writes into its own folder; any other input may lie there.
RUN_FILES = re.compile(
    r"checkpoint|model\.ckpt-\d+\..*|events\.out\..*"
    r"|.*\.tf_record|labels\.txt|run_settings\.json|summary\.json"
    r"|(test_)?eval_results.*\.txt|test_results.*\.tsv|(test_|nbest_)?predictions.*"
    r"|null_odds\.json|report(_mm)?\.html|history\.jsonl"
    r"|projector_config\.pbtxt|(lines|tokens)(_metadata)?\.tsv"
)

# Line ends, tabs and the like, which no one gives a path on purpose.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

# What records that are made at scale add to the name of their output.
_SHARD = re.compile(
    r"(-\d{5,}-of-\d{5,}|\.manifest\.json|\.lock|\.work)(\.partial-\d+)?"
)


@dataclasses.dataclass(frozen=True)
class PathFlag:
    """One flag with its value, as the user gave it."""

    flag: str
    value: str
    kind: Kind

    def __str__(self) -> str:
        """Returns the flag as given on the command line."""
        return f"--{self.flag}={self.value}"


@dataclasses.dataclass(frozen=True, eq=False)
class _Place:
    """A file or folder that a flag names, and all the folders it is in."""

    given: PathFlag
    path: str
    # The place itself, its folder, that one's folder, up to the root.
    lineage: tuple

    @property
    def kind(self) -> Kind:
        return self.given.kind

    @property
    def is_output(self) -> bool:
        return self.kind in _OUTPUTS

    def __str__(self) -> str:
        named = str(self.given)
        return (
            named if self.path == self.given.value else f"{named} ({self.path})"
        )


def check_paths(given: Sequence[PathFlag]) -> None:
    """Refuses paths that cannot be right, and outputs that would do harm.

    Args:
        given: the path flags that have a value.

    Raises:
        ValueError: a path is empty or cannot be a path; an output is equal to,
            inside or around something that it must not touch; a model would
            replace one that this project did not write.
        OSError: there is a folder where a file is wanted or the reverse, or
            an output cannot be written.
    """
    _lineage.cache_clear()
    for flag in given:
        for path in _parts(flag):
            _check_text(flag, path)
    for flag in given:
        for path in _parts(flag):
            if not is_remote(path):
                _check_type(flag, path)
    _check_overlaps(given)
    for flag in given:
        if flag.kind is Kind.MODEL_OUTPUT and not is_remote(flag.value):
            folder, names = flag.value, list(manifests.MODEL_FILES)
            if _is_prefix(flag):
                folder, names = manifests.checkpoint_files(flag.value)
            manifests.check(folder, names, str(flag))


def lock_path(flag: PathFlag) -> str | None:
    """Returns the file that locks an output; None for what needs no lock.

    Single files appear whole, whoever writes them.
    """
    path = os.path.normpath(flag.value)
    if is_remote(flag.value):
        return None
    if flag.kind is Kind.EXPORT_FOLDER or _is_prefix(flag):
        return f"{path}.lock"
    if flag.kind in (Kind.RUN_FOLDER, Kind.MODEL_OUTPUT):
        return os.path.join(path, ".lock")
    return None


def named_folders(value: str) -> list[tuple[str, str]]:
    """Returns (name, folder) of each NAME=FOLDER; no name is ""."""
    found = []
    for part in filter(None, map(str.strip, value.split(","))):
        name, separator, folder = part.partition("=")
        is_named = separator and not os.path.exists(part)
        found.append((name, folder) if is_named else ("", part))
    return found


def _parts(flag: PathFlag) -> list[str]:
    """Returns the paths that a flag lists."""
    if flag.kind is Kind.RUNS and flag.value.replace(",", " ").strip():
        return [folder for _, folder in named_folders(flag.value)]
    if flag.kind is Kind.INPUT_FILES and flag.value.replace(",", " ").strip():
        return [part.strip() for part in flag.value.split(",") if part.strip()]
    if flag.kind is Kind.OUTPUT_FILES:
        return flag.value.split(",")
    return [flag.value]


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
    if path.startswith("file:") and flag.kind in _OUTPUTS:
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
        OSError: it is that, or an output that cannot be written.
    """
    if flag.kind in _FILES:
        if os.path.isdir(path) or (
            flag.kind in _OUTPUTS and path.endswith(os.sep)
        ):
            raise IsADirectoryError(
                f"{flag}: {path} is a folder; give the path of a file"
            )
    elif flag.kind is not Kind.MODEL and not _is_prefix(flag):
        # With a slash behind it, a link is the folder that it points to.
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
    if flag.kind in _OUTPUTS:
        _check_writable(flag, path)


def _is_prefix(flag: PathFlag) -> bool:
    return flag.kind is Kind.MODEL_OUTPUT and flag.value.endswith(".ckpt")


def _check_writable(flag: PathFlag, path: str) -> None:
    path = os.path.realpath(path)
    is_file = flag.kind in _FILES or _is_prefix(flag)
    if is_file and os.path.exists(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(
                f"{flag} is write-protected; give another path, or remove it"
            )
        if not os.path.isfile(path):
            # A FIFO or a device, which takes bytes where it is.
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


def _check_overlaps(given: Sequence[PathFlag]) -> None:
    places = [place for flag in given for place in _places(flag)]
    at: dict = {}
    for place in places:
        at.setdefault(place.lineage[0], []).append(place)
    for inner in places:
        for depth, key in enumerate(inner.lineage):
            for outer in at.get(key, ()):
                # Equal places meet twice; the output is to be the first.
                if outer is inner or not (
                    inner.is_output or (depth and outer.is_output)
                ):
                    continue
                if depth == 0:
                    _check_equal(inner, outer)
                else:
                    _check_inside(inner, outer, is_direct=depth == 1)
    _check_shards(places)


def _check_equal(output: _Place, other: _Place) -> None:
    if {output.kind, other.kind} == {Kind.RUN_FOLDER, Kind.MODEL}:
        # A run that resumes from its own folder.
        return
    if output.given == other.given:
        raise ValueError(f"{output.given}: {other.path} is named twice")
    raise ValueError(f"{output} and {other} are the same; give another path")


def _check_inside(inner: _Place, outer: _Place, is_direct: bool) -> None:
    """Refuses a place in another where that one could destroy it."""
    is_input = not inner.is_output
    # What is written to a link goes to where it leads.
    paths = inner.path, os.path.realpath(inner.path)
    if Kind.EXPORT_FOLDER in (inner.kind, outer.kind):
        if outer.kind is Kind.DATA_FOLDER:
            return
        _refuse_inside(inner, outer, "an export needs a folder of its own")
    if outer.kind in _FILES:
        _refuse_inside(inner, outer, "that is a file")
    if outer.kind is Kind.MODEL and inner.kind in _FILES:
        _refuse_inside(inner, outer, "that is a model to read")
    if outer.kind is Kind.MODEL_OUTPUT and is_input and is_direct:
        if not os.path.isdir(inner.path):
            _refuse_inside(inner, outer, "it could be overwritten there")
    if outer.kind is Kind.RUN_FOLDER and is_input and is_direct:
        if inner.kind is not Kind.MODEL and any(
            RUN_FILES.fullmatch(os.path.basename(path)) for path in paths
        ):
            _refuse_inside(inner, outer, "the run writes a file of that name")


def _check_shards(places: Sequence[_Place]) -> None:
    """Refuses inputs that are, by name or link, parts of an output."""
    for output in places:
        if output.kind is not Kind.OUTPUT_FILES or is_remote(output.path):
            continue
        parts = {
            _lineage(os.path.realpath(path))[0]
            for path in glob.iglob(f"{glob.escape(output.path)}*")
            if _SHARD.fullmatch(path[len(output.path) :])
        }
        for place in places:
            if not place.is_output and not parts.isdisjoint(place.lineage):
                raise ValueError(
                    f"{place} has the name of a part of {output}, which could "
                    "replace it; give another path"
                )


def _refuse_inside(inner: _Place, outer: _Place, reason: str) -> NoReturn:
    raise ValueError(f"{inner} is inside {outer}: {reason}; give another path")


def _places(flag: PathFlag) -> Iterator[_Place]:
    """Yields the files and folders that a flag names.

    Not those that cannot be replaced (a device, a FIFO), nor inputs that are
    not there, which have no harm to fear.
    """
    for part in _parts(flag):
        part = part.removeprefix("file://")
        if is_remote(part):
            yield _Place(flag, part, _remote_lineage(part))
            continue
        for path in _matches(flag, part):
            if flag.kind in _OUTPUTS or os.path.exists(path):
                if not _is_special(path):
                    place = _lineage(os.path.realpath(path))
                    yield _Place(flag, path, place)
                    if flag.kind in INPUTS and os.path.islink(path):
                        # An output beside the link may be written through it.
                        folder = os.path.realpath(os.path.dirname(path))
                        yield _Place(flag, path, place[:1] + _lineage(folder))


def _matches(flag: PathFlag, path: str) -> list[str]:
    """Returns the local files or folders that a path or pattern matches."""
    if flag.kind is Kind.INPUT_FILES and not os.path.exists(path):
        return glob.glob(path)
    if flag.kind is Kind.MODEL and (
        os.path.exists(f"{path}.index") or not os.path.exists(path)
    ):
        return [path, *glob.glob(f"{glob.escape(path)}.*")]
    if flag.kind is Kind.RUNS:
        # What is read there.
        histories = glob.glob(f"{glob.escape(path)}/**/history.jsonl")
        return [path, f"{path}/history.jsonl", *histories]
    if _is_prefix(flag):
        return [f"{path}.index", f"{path}.data-00000-of-00001"]
    return [path]


def _is_special(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@functools.lru_cache(maxsize=4096)
def _lineage(path: str) -> tuple:
    """Returns what identifies a path and each folder above it."""
    key: tuple[int, int] | str
    try:
        found = os.stat(path)
        key = (found.st_dev, found.st_ino)
    except OSError:
        key = path
    folder = os.path.dirname(path)
    return (key,) if folder == path else (key, *_lineage(folder))


def _remote_lineage(path: str) -> tuple:
    scheme, _, rest = path.partition("://")
    parts = rest.strip("/").split("/")
    return tuple(
        f"{scheme}://{'/'.join(parts[:length])}"
        for length in range(len(parts), 0, -1)
    )
