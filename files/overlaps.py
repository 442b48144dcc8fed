"""Refuses outputs that would overwrite an input or each other.

Paths are compared by file: `a`, `./a`, a symbolic link to it and a hard link to
it are one.
"""

import dataclasses
import functools
import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import NoReturn

from files.atomic import is_remote
from files.paths import FILES, INPUTS, OUTPUTS, Kind, PathFlag
from files.patterns import find_matches
from files.run_files import is_run_file

# Suffixes that records made at scale add to the output's name.
_SHARD = re.compile(
    r"(-\d{5,}-of-\d{5,}|\.manifest\.json|\.lock|\.work)(\.partial-\d+)?"
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Place:
    """A file or folder that a flag names, with all its parent folders."""

    given: PathFlag
    path: str
    # Identities of the place and all its parents, up to the root.
    lineage: tuple

    @property
    def kind(self) -> Kind:
        return self.given.kind

    @property
    def is_output(self) -> bool:
        return self.kind in OUTPUTS

    def __str__(self) -> str:
        named = str(self.given)
        return (
            named if self.path == self.given.value else f"{named} ({self.path})"
        )


def check(given: Sequence[PathFlag]) -> None:
    """Refuses an output that would harm another named path.

    Raises:
        ValueError: it is, is inside or contains something that it must not
            touch.
    """
    _lineage.cache_clear()
    places = [place for flag in given for place in _places(flag)]
    at: dict = {}
    for place in places:
        at.setdefault(place.lineage[0], []).append(place)
    for inner in places:
        for depth, key in enumerate(inner.lineage):
            for outer in at.get(key, ()):
                # Equal places are compared twice; let the output be first.
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
    """Refuses a place inside another that could destroy it."""
    is_input = not inner.is_output
    # Writing to a link writes to its target.
    paths = inner.path, os.path.realpath(inner.path)
    if Kind.EXPORT_FOLDER in (inner.kind, outer.kind):
        if outer.kind is Kind.DATA_FOLDER:
            return
        _refuse_inside(inner, outer, "an export needs a folder of its own")
    if outer.kind in FILES:
        _refuse_inside(inner, outer, "that is a file")
    if outer.kind is Kind.MODEL and inner.kind in FILES:
        _refuse_inside(inner, outer, "that is a model to read")
    if outer.kind is Kind.MODEL_OUTPUT and is_input and is_direct:
        if not os.path.isdir(inner.path):
            _refuse_inside(inner, outer, "it could be overwritten there")
    if outer.kind is Kind.RUN_FOLDER and is_direct:
        is_other = is_input and inner.kind is not Kind.MODEL
        if (is_other or inner.kind in FILES) and any(
            is_run_file(os.path.basename(path)) for path in paths
        ):
            _refuse_inside(inner, outer, "the run writes a file of that name")


def _check_shards(places: Sequence[_Place]) -> None:
    """Refuses inputs that are part of an output, by name or link."""
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

    Except devices, such as /dev/null and terminals, and missing inputs.
    """
    for part in flag.parts:
        part = part.removeprefix("file://")
        if is_remote(part):
            yield _Place(flag, part, _remote_lineage(part))
            continue
        for path in _matches(flag, part):
            if flag.kind in OUTPUTS or os.path.exists(path):
                if not _is_device(path):
                    place = _lineage(os.path.realpath(path))
                    yield _Place(flag, path, place)
                    for link in _written_links(flag, path):
                        yield _Place(
                            flag, link, _lineage(os.path.realpath(link))
                        )
                    if flag.kind in INPUTS and os.path.islink(path):
                        # An output may be written through the link.
                        folder = os.path.realpath(os.path.dirname(path))
                        yield _Place(flag, path, place[:1] + _lineage(folder))


def _written_links(flag: PathFlag, path: str) -> list[str]:
    """Returns the links in a run's folder through which the run writes."""
    if flag.kind is not Kind.RUN_FOLDER or not os.path.isdir(path):
        return []
    return [
        entry.path
        for entry in os.scandir(path)
        if entry.is_symlink() and is_run_file(entry.name)
    ]


def _matches(flag: PathFlag, path: str) -> list[str]:
    """Returns the local files or folders that a path or pattern matches."""
    if flag.kind is Kind.INPUT_FILES:
        return find_matches(path)
    if flag.kind is Kind.MODEL and (
        os.path.exists(f"{path}.index") or not os.path.exists(path)
    ):
        return [path, *glob.glob(f"{glob.escape(path)}.*")]
    if flag.kind is Kind.RUNS:
        # The files read there.
        histories = glob.glob(f"{glob.escape(path)}/**/history.jsonl")
        return [path, f"{path}/history.jsonl", *histories]
    if flag.is_prefix:
        return [f"{path}.index", f"{path}.data-00000-of-00001"]
    return [path]


def _is_device(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


@functools.lru_cache(maxsize=4096)
def _lineage(path: str) -> tuple:
    """Returns identities of a path and each folder above it."""
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
