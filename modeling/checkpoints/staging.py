"""Moves several new files to their final names together, or none of them."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from files import manifests
from files.atomic import (
    copy_file,
    is_remote,
    partial_path,
    sync,
    write_bytes,
    write_text,
)
from files.paths import StrPath


@contextlib.contextmanager
def staged_folder(
    directory: StrPath, last: str, contents: Mapping[str, str | bytes]
) -> Iterator[str]:
    """Moves the files of a model into a folder, all together or not at all.

    Args:
        directory: folder of the model. Created if missing.
        last: name of the file to move last. It must be a file without which
            nothing can load the model.
        contents: {name: contents} of files to write first.

    Yields:
        a temporary folder into which to write the other files.

    Raises:
        OSError: the files cannot be written.
        ValueError: the folder contains a model that this project did not write,
            or files of an earlier model that would stay beside the new files.
    """
    stage = partial_path(os.path.join(directory, last))
    try:
        with errors_named(directory):
            # A killed process with the same id may have left this folder.
            _remove(stage)
            file_system(stage).makedirs(stage)
            for name, content in contents.items():
                if isinstance(content, str):
                    write_text(os.path.join(stage, name), content)
                else:
                    write_bytes(os.path.join(stage, name), content)
            yield stage
            names = [
                os.path.relpath(os.path.join(place, name), stage)
                for place, _, inner in file_system(stage).walk(stage)
                for name in inner
            ]
            if manifests.CARD in names and manifests.has_own_card(directory):
                names.remove(manifests.CARD)
            names.sort(key=lambda name: name == last)
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
    """Renames files to their final names.

    Nothing can load the model without the last file, such as a checkpoint's
    index. The function first removes an older file of this name, and moves the
    new file last. Therefore a killed process never leaves a model that mixes
    new and old files. Before it renames, the function waits until the bytes are
    on the disk, because TensorFlow does not wait.

    Args:
        files: {temporary path: final path}, in the order in which to move.

    Raises:
        OSError: a final path is a folder. Then no file is moved.
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
def errors_named(path: StrPath) -> Iterator[None]:
    """Turns TensorFlow's errors in a `with` block into OSErrors.

    The messages of these errors contain `path`.
    """
    try:
        yield
    except Exception as error:
        # Compare names of modules, because TensorFlow may not be installed.
        if not type(error).__module__.startswith("tensorflow."):
            raise
        # Remove the names of TensorFlow's operation from the message, because
        # they do not help a user.
        message = re.sub(
            r"^\{\{.*?\}\} | \[Op:\w+\]", "", getattr(error, "message", "")
        )
        raise OSError(f"{path} cannot be written: {message}") from error


def _refuse_folders(paths: Iterable[str]) -> None:
    for path in paths:
        if file_system(path).isdir(path):
            raise IsADirectoryError(
                f"{path} is a folder. Remove it, or write to another path"
            )


def _is_special(path: str) -> bool:
    """Returns whether a path is a link or a device, which must be kept."""
    return (
        not is_remote(path)
        and os.path.lexists(path)
        and (os.path.islink(path) or not os.path.isfile(path))
    )


def _remove(folder: str) -> None:
    if file_system(folder).isdir(folder):
        file_system(folder).rmtree(folder)


def file_system(path: StrPath) -> Any:
    """Returns tf.io.gfile for a remote path, `_Local` for a local path."""
    if not is_remote(path):
        return _Local
    from tensorflow.io import gfile

    return gfile


class _Local:
    """Functions of tf.io.gfile for local paths, without TensorFlow."""

    exists, isdir = staticmethod(os.path.exists), staticmethod(os.path.isdir)
    listdir, remove = staticmethod(os.listdir), staticmethod(os.remove)
    rmtree, walk = staticmethod(shutil.rmtree), staticmethod(os.walk)

    @staticmethod
    def makedirs(path: str) -> None:
        os.makedirs(path, exist_ok=True)

    @staticmethod
    def rename(source: str, target: str, overwrite: bool) -> None:
        os.replace(source, target)
