"""Creates and replaces folders of exports.

An export replaces only a folder that an earlier export wrote. A file in the
folder lists everything that the export wrote. If the folder contains another
file, no export changes the folder.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from files import manifests
from files.atomic import sync
from files.paths import StrPath, named_errors


def check(export_dir: StrPath) -> None:
    """Raises an error if a folder contains anything but an earlier export.

    Raises:
        ValueError: the folder contains something else, or a file of the user
            has the name of a temporary folder.
    """
    path = Path(export_dir)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise ValueError(f"--export_dir={path} is not a folder; use a new one")
    if path.is_dir() and any(path.iterdir()):
        if not _is_ours(path):
            raise ValueError(
                f"--export_dir={path} exists and is not an export, because it "
                f"contains no {manifests.EXPORT}; remove it, or use a new "
                "folder"
            )
        # A list that is still empty does not contain the list's own name.
        listed = [*manifests.listed(path, manifests.EXPORT), manifests.EXPORT]
        for name in _contents(path):
            if name not in listed:
                raise ValueError(
                    f"--export_dir={path} contains {name}, which no export "
                    "wrote; move it away, or use a new folder"
                )
    for temporary in _temporary(path):
        if os.path.lexists(temporary) and not _may_remove(temporary):
            raise ValueError(
                f"--export_dir={path} needs the name {temporary}, but no "
                "export created the file or folder of that name; rename it"
            )


@contextlib.contextmanager
def create(path: Path) -> Iterator[Path]:
    """Yields a folder that becomes the export if the block succeeds.

    Raises:
        ValueError: the folder contains something else (see `check`).
    """
    unfinished, replaced, _ = _temporary(path)
    check(path)
    if replaced.exists() and not path.exists():
        # An earlier process was killed between the two renames below.
        replaced.rename(path)
    for left_behind in (unfinished, replaced):
        _remove(left_behind)
    unfinished.mkdir(parents=True)
    try:
        # If the process is killed, this list marks the folder as an export's.
        manifests.write(unfinished, manifests.EXPORT, [])
        with named_errors(path):
            yield unfinished
        manifests.write(unfinished, manifests.EXPORT, _contents(unfinished))
        for file in (*unfinished.rglob("*"), unfinished):
            sync(file)
        # Check again for files that appeared since the work began.
        check(path)
        if path.exists():
            path.rename(replaced)
        unfinished.rename(path)
        sync(path.parent)
        _remove(replaced)
    finally:
        _remove(unfinished)


def reject(folder: Path, path: Path) -> Path:
    """Moves a complete export aside, so that it does not replace the old one.

    An export that was rejected earlier is replaced.

    Args:
        folder: folder that `create(path)` yielded, with an export in it.
        path: path of the old export.

    Returns:
        new path of the rejected export.
    """
    rejected = _temporary(path)[-1]
    _remove(rejected)
    return folder.rename(rejected)


def _is_ours(path: Path) -> bool:
    return (path / manifests.EXPORT).is_file() and not path.is_symlink()


def _may_remove(path: Path) -> bool:
    """Returns whether a folder is empty, or left by a killed export."""
    if path.is_symlink() or not path.is_dir():
        return False
    if not any(path.iterdir()):
        return True
    if not _is_ours(path):
        return False
    listed = manifests.listed(path, manifests.EXPORT)
    # While an export is written, its list is still empty.
    return listed == [] or all(name in listed for name in _contents(path))


def _remove(path: Path) -> None:
    """Removes a folder that an export wrote.

    Removes the list of files last, so that the folder still counts as an export
    if the process is killed.
    """
    if not path.exists():
        return
    for file in path.iterdir():
        if file.is_dir():
            shutil.rmtree(file)
        elif file.name != manifests.EXPORT:
            file.unlink()
    shutil.rmtree(path)


def _contents(path: Path) -> list[str]:
    """Returns the paths of all files and folders in a folder, sorted."""
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))


def _temporary(path: Path) -> tuple[Path, Path, Path]:
    """Returns the paths for a new, a replaced and a rejected export."""
    unfinished, replaced, rejected = (
        path.with_name(f"{path.name}.{end}")
        for end in ("unfinished", "replaced", "rejected")
    )
    return unfinished, replaced, rejected
