"""Creates and replaces folders of exports.

An export replaces only a folder that an earlier export wrote. The file
bert_export.json in the folder lists everything that the export wrote. If the
folder contains a file that is not listed, no export changes the folder.
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
    """Checks that a new export may replace a folder.

    An export may replace an empty folder, or the folder of an earlier export.

    Raises:
        ValueError: the folder contains files that no export wrote, or a user's
            file is named like a temporary folder of the export.
    """
    path = Path(export_dir)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise ValueError(
            f"--export_dir={path} is not a folder; use the path of a new folder"
        )
    if path.is_dir() and any(path.iterdir()):
        if not _is_ours(path):
            raise ValueError(
                f"--export_dir={path} exists and is not an export, because it "
                f"contains no {manifests.EXPORT}; use a new folder, or remove "
                "the existing folder"
            )
        # Add the list's own name, because the list of an unfinished export does
        # not contain it.
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
                f"--export_dir={path} uses {temporary} as a temporary folder, "
                "but that path exists, and no export created it; rename "
                f"{temporary.name}"
            )


@contextlib.contextmanager
def create(path: Path) -> Iterator[Path]:
    """Yields a temporary folder, and renames it to `path` at the end.

    If the `with` block raises an error, `path` stays unchanged and the
    temporary folder is removed.

    Raises:
        ValueError: an export must not replace the folder `path` (see `check`).
    """
    unfinished, replaced = _temporary(path)
    check(path)
    if replaced.exists() and not path.exists():
        # An earlier process was killed between the two renames below.
        replaced.rename(path)
    for left_behind in (unfinished, replaced):
        _remove(left_behind)
    unfinished.mkdir(parents=True)
    try:
        # If the process is killed, this list tells later exports that they may
        # remove the temporary folder.
        manifests.write(unfinished, manifests.EXPORT, [])
        with named_errors(path):
            yield unfinished
        manifests.write(unfinished, manifests.EXPORT, _contents(unfinished))
        for file in (*unfinished.rglob("*"), unfinished):
            sync(file)
        # Check again, because somebody may have added files to the folder since
        # the export began.
        check(path)
        if path.exists():
            path.rename(replaced)
        unfinished.rename(path)
        sync(path.parent)
        _remove(replaced)
    finally:
        _remove(unfinished)


def _is_ours(path: Path) -> bool:
    return (path / manifests.EXPORT).is_file() and not path.is_symlink()


def _may_remove(path: Path) -> bool:
    """Returns whether a folder is empty, or contains only an export's files."""
    if path.is_symlink() or not path.is_dir():
        return False
    if not any(path.iterdir()):
        return True
    if not _is_ours(path):
        return False
    listed = manifests.listed(path, manifests.EXPORT)
    # The list of an unfinished export is empty.
    return listed == [] or all(name in listed for name in _contents(path))


def _remove(path: Path) -> None:
    """Removes the folder of an export, and the list of its files last.

    If the process is killed, the list still shows that the folder is an export.
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
    return sorted(file.relative_to(path).as_posix() for file in path.rglob("*"))


def _temporary(path: Path) -> tuple[Path, Path]:
    """Returns the paths of two temporary folders beside an export.

    The folders are for the unfinished new export, and for the earlier export
    while it is replaced.
    """
    unfinished, replaced = (
        path.with_name(f"{path.name}.{end}")
        for end in ("unfinished", "replaced")
    )
    return unfinished, replaced
