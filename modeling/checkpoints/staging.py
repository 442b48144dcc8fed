"""Moves several new files into place together, or none of them."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from typing import Any

from files import manifests
from files.atomic import copy_file, is_remote, partial_path, sync


@contextlib.contextmanager
def staged_folder(
    directory: str | os.PathLike[str], last: str
) -> Iterator[str]:
    """Makes the files of a model appear in a folder together or not at all.

    Args:
        directory: the folder; created if missing.
        last: the file that makes the others a model; see `move_into_place`.

    Yields:
        a temporary folder to write them into.

    Raises:
        OSError: the files cannot be written.
        ValueError: the folder holds a model that this project did not write,
            or one with other files.
    """
    stage = partial_path(os.path.join(directory, last))
    try:
        with errors_named(directory):
            # A killed process may have had the same id.
            _remove(stage)
            file_system(stage).makedirs(stage)
            yield stage
            if manifests.has_own_card(directory):
                card = os.path.join(stage, manifests.CARD)
                if file_system(card).exists(card):
                    file_system(card).remove(card)
            names = sorted(_files_in(stage), key=lambda name: name == last)
            files = {
                os.path.join(stage, name): os.path.join(directory, name)
                for name in names
            }
            _refuse_folders(files.values())
            manifests.check_whole(directory, names)
            manifests.add(directory, names)
            for folder in {os.path.dirname(file) for file in files.values()}:
                file_system(folder).makedirs(folder)
            move_into_place(files)
    finally:
        _remove(stage)


def move_into_place(files: dict[str, str]) -> None:
    """Renames files to their own names.

    The last one makes the others a model, as a checkpoint's index does. It is
    moved last and an older one is removed first, so that a process killed in
    between never leaves a mixture of new and old files. TensorFlow does not
    wait for the disk, so this does.

    Args:
        files: {file as written: its own name}, in the order to move them.

    Raises:
        OSError: a folder has such a name; no file is moved.
        OSError, tf.errors.OpError: a file cannot be moved.
    """
    _refuse_folders(files.values())
    *_, last = files.values()
    for source in files:
        sync(source)
    system = file_system(last)
    if system.exists(last) and not _is_special(last):
        system.remove(last)
    for source, target in files.items():
        if _is_special(target):
            copy_file(source, target)
        else:
            system.rename(source, target, overwrite=True)
    sync(os.path.dirname(last) or ".")


@contextlib.contextmanager
def errors_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns errors of TensorFlow into an OSError that names the path."""
    try:
        yield
    except Exception as error:
        # It need not be installed, and not be loaded for this.
        if not type(error).__module__.startswith("tensorflow."):
            raise
        # Without the names of the operation, which tell a user nothing.
        message = re.sub(
            r"^\{\{.*?\}\} | \[Op:\w+\]", "", getattr(error, "message", "")
        )
        raise OSError(f"{path} cannot be written: {message}") from error


def _files_in(folder: str) -> list[str]:
    """Returns the paths of the files below a folder, from there."""
    walk = file_system(folder).walk(folder)
    return [
        os.path.relpath(os.path.join(place, name), folder)
        for place, _, names in walk
        for name in names
    ]


def _refuse_folders(paths: Iterable[str]) -> None:
    for path in paths:
        if file_system(path).isdir(path):
            raise IsADirectoryError(
                f"{path} is a folder; remove it, or write elsewhere"
            )


def _is_special(path: str) -> bool:
    """Returns whether a path is a link or device, not to be renamed over."""
    return (
        not is_remote(path)
        and os.path.lexists(path)
        and (os.path.islink(path) or not os.path.isfile(path))
    )


def _remove(folder: str) -> None:
    if file_system(folder).isdir(folder):
        file_system(folder).rmtree(folder)


def file_system(path: str | os.PathLike[str]) -> Any:
    """Returns what has the functions of tf.io.gfile for a path."""
    if not is_remote(path):
        return _Local
    from tensorflow.io import gfile

    return gfile


class _Local:
    """The functions of tf.io.gfile, without TensorFlow."""

    exists, isdir = staticmethod(os.path.exists), staticmethod(os.path.isdir)
    listdir, remove = staticmethod(os.listdir), staticmethod(os.remove)
    rmtree, walk = staticmethod(shutil.rmtree), staticmethod(os.walk)

    @staticmethod
    def makedirs(path: str) -> None:
        os.makedirs(path, exist_ok=True)

    @staticmethod
    def rename(source: str, target: str, overwrite: bool) -> None:
        os.replace(source, target)
