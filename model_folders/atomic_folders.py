"""Creates and replaces folders of models, complete or not at all.

A folder is built under a temporary name beside the final one and then renamed.
The file model.json in the folder lists everything that was written. If a folder
contains a file that is not listed, the file is the user's, and the folder is
not replaced.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from files import json_files
from files.atomic import (
    partial_path,
    remove_partial,
    sync_to_disk,
    write_bytes,
)
from files.lock import try_lock
from files.paths import StrPath, explain_file_errors
from model_folders import model_json

# Possible paths of the file that lists the files of its folder. An export of
# only a SavedModel stores this file beside the vocabulary.
_LISTING_FILES = (
    model_json.MODEL_JSON_FILE,
    f"assets.extra/{model_json.MODEL_JSON_FILE}",
)
# Marks a folder that was moved to PATH.old, to tell the folder from a user's
# copy.
_MOVED_MARK = ".moved"


def check_replaceable(path: StrPath, flag: str = "") -> None:
    """Checks that a new folder may replace `path`, if `path` exists.

    `flag` is the flag that names the path, for messages.

    Raises:
        ValueError: the path contains a file that this project did not write, or
            is not a folder.
    """
    source = f"{flag}={path}" if flag else path
    path = Path(os.path.realpath(path))
    if not path.exists():
        return
    if not path.is_dir() or path.is_mount():
        raise ValueError(f"{source} is not a folder, or a disk; use a folder")
    unlisted = _list_unlisted_files(path)
    old = _old_folder_of(path)
    if os.path.lexists(old) and not _is_leftover(old):
        # The earlier folder moves to PATH.old while it is replaced.
        unlisted.append(str(old))
    if unlisted:
        raise ValueError(
            f"{source} is not replaced, because {unlisted[0]} is not listed in "
            f"{_LISTING_FILES[0]} as written by this project. Move it away, or "
            "use a new folder"
        )


@contextlib.contextmanager
def atomic_folder(
    path: StrPath, files: Mapping[str, str | bytes] | None = None
) -> Iterator[Path]:
    """Yields a temporary folder, and renames it to `path` at the end.

    The folder replaces the earlier folder at `path`, or the target of a link.
    If the `with` block raises an error, `path` stays unchanged and the
    temporary folder is removed. A killed process leaves the earlier folder at
    `path` or at PATH.old, and the next call moves it back.

    Args:
        path: folder to write. Missing parent folders are created.
        files: {relative path: contents} of files to write first.

    Raises:
        ValueError: the path contains a file that this project did not write, or
            is not a folder.
        OSError: the folder cannot be written.
    """
    path = Path(os.path.realpath(path))
    check_replaceable(path)
    _clean_up(path)
    work = Path(partial_path(path))
    work.mkdir(parents=True)
    descriptor = os.open(work, os.O_RDONLY)
    try:
        try_lock(descriptor)
        with explain_file_errors(path):
            _write_files(work, files or {})
            yield work
        _write_listing_file(work)
        _replace_folder(path, work)
    finally:
        os.close(descriptor)
        shutil.rmtree(work, ignore_errors=True)
        _clean_up(path)


def _write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        if isinstance(content, str):
            content = content.encode("utf-8")
        write_bytes(folder / name, content)


def _replace_folder(path: Path, work: Path) -> None:
    """Renames the finished folder `work` to `path`, after it is on the disk."""
    for file in (*work.rglob("*"), work):
        sync_to_disk(file)
    # Check again, because somebody may have added files to the folder.
    check_replaceable(path)
    if path.exists():
        (path / _MOVED_MARK).touch()
        path.rename(_old_folder_of(path))
    work.rename(path)
    sync_to_disk(path.parent)


def _clean_up(path: Path) -> None:
    """Finishes or undoes the work of a killed process."""
    remove_partial(path)
    old = _old_folder_of(path)
    if (old / _MOVED_MARK).is_file() and not path.exists():
        old.rename(path)
    (path / _MOVED_MARK).unlink(missing_ok=True)
    if _is_leftover(old):
        # A partial name, so that a kill leaves no half folder at PATH.old.
        shutil.rmtree(old.rename(partial_path(path)), ignore_errors=True)


def _list_unlisted_files(folder: Path) -> list[str]:
    """Returns the files in a folder that its list does not contain."""
    file = _choose_listing_file(folder)
    listed = [_MOVED_MARK]
    if file.is_file():
        names = json_files.read_json(file).get("files")
        listed += names if isinstance(names, list) else []
    return [name for name in _list_files(folder) if name not in listed]


def _is_leftover(old: Path) -> bool:
    """Returns whether a killed process left PATH.old, without a user's file."""
    return (old / _MOVED_MARK).is_file() and not _list_unlisted_files(old)


def _write_listing_file(folder: Path) -> None:
    """Adds the names of all files in a folder to its list."""
    file = _choose_listing_file(folder)
    content = json_files.read_json(file) if file.is_file() else {}
    names = {*_list_files(folder), file.relative_to(folder).as_posix()}
    json_files.write_json(
        file, {"version": model_json.VERSION, **content, "files": sorted(names)}
    )


def _choose_listing_file(folder: Path) -> Path:
    files = [folder / name for name in _LISTING_FILES]
    return next(filter(Path.is_file, files), files[0])


def _list_files(path: Path) -> list[str]:
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))


def _old_folder_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.old")
