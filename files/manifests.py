"""Lists of the files that this project wrote to a model's folder.

The project never overwrites files that are not on a list. An export lists
everything in its folder, and is replaced completely. Weights may be beside
other files of the user, but not beside files of an earlier model that could be
mistaken for part of the new model.
"""

import os
from collections.abc import Iterable

from files.atomic import is_remote, write_json
from files.json_files import parse_json, read_json
from files.paths import StrPath

# The lists of exports and of weights have different names, so that an export
# never replaces weights.
EXPORT = "bert_export.json"
WEIGHTS = "bert_weights.json"
# Name of the model card.
CARD = "README.md"
# Endings of the names of a checkpoint's files.
ENDINGS = (".index", ".data-00000-of-00001")
# Files that describe the weights in the same folder.
DESCRIPTIONS = frozenset(
    "bert_config.json labels.txt vocab.txt tokenizer_config.json "
    "model.json".split()
)
# All files that a release, a Hugging Face model or a conversion may contain.
MODEL_FILES = DESCRIPTIONS | {
    *(f"bert_model.ckpt{ending}" for ending in ENDINGS),
    *("model.safetensors", "config.json", "tokenizer.json"),
    "special_tokens_map.json",
}


def release_files(path: StrPath) -> tuple[str, list[str]]:
    """Returns the folder of a release and the names of its checkpoint's files.

    Args:
        path: path of the folder, or of a checkpoint in it (`.ckpt`).
    """
    folder, name = os.fspath(path), "bert_model.ckpt"
    if folder.endswith(".ckpt"):
        folder, name = os.path.split(folder)
    return folder or ".", [f"{name}{ending}" for ending in ENDINGS]


def check(folder: StrPath, names: Iterable[str], where: str) -> None:
    """Raises an error if files of these names exist that we did not write.

    Error messages begin with `where`, such as a flag.

    Raises:
        OSError: the list cannot be read.
        ValueError: the folder contains files of these names that its list does
            not name.
    """
    ours = listed(folder, WEIGHTS)
    foreign = [name for name in _existing(folder, names) if name not in ours]
    if foreign:
        raise ValueError(
            f"{where}: {os.fspath(folder)} contains {', '.join(foreign)}, "
            f"which its {WEIGHTS} does not list as written by an earlier run. "
            "Move these files away, or use another path"
        )


def check_whole(folder: StrPath, names: Iterable[str]) -> None:
    """Raises an error if the folder contains other files of an earlier model.

    Raises:
        OSError: the list cannot be read.
        ValueError: `check` raises an error, or files of an earlier model would
            stay in the folder beside the new model.
    """
    check(folder, names, "the model cannot be written")
    ours = {
        name
        for name in listed(folder, WEIGHTS)
        if name in MODEL_FILES or name.endswith(ENDINGS)
    }
    if left := _existing(folder, ours.difference(names)):
        raise ValueError(
            f"{os.fspath(folder)} contains a model with {', '.join(left)}, "
            "which the new model lacks. Move the old model away, or use "
            "another folder"
        )


def has_own_card(folder: StrPath) -> bool:
    """Returns whether a folder contains a README.md that its user wrote.

    Raises:
        OSError: the list cannot be read.
    """
    is_there = bool(_existing(folder, [CARD]))
    return is_there and CARD not in listed(folder, WEIGHTS)


def add(folder: StrPath, names: Iterable[str]) -> None:
    """Adds names to a folder's list of weights.

    Call this before the files are written, in case the process is killed.

    Raises:
        OSError: the list cannot be read or written.
    """
    write(folder, WEIGHTS, {*listed(folder, WEIGHTS), *names})


def write(folder: StrPath, name: str, names: Iterable[str]) -> None:
    """Writes a folder's list of files, called EXPORT or WEIGHTS.

    Raises:
        OSError: the list cannot be written.
    """
    write_json(os.path.join(folder, name), {"files": sorted(names)})


def listed(folder: StrPath, name: str) -> list[str]:
    """Returns the paths in a folder's list, [] if there is no list.

    Raises:
        OSError: the list cannot be read.
        ValueError: the list is not a JSON object.
    """
    path = os.path.join(folder, name)
    if not _existing(folder, [name]):
        return []
    if is_remote(path):
        from tensorflow.io import gfile

        with gfile.GFile(path, "rb") as file:
            content = parse_json(file.read(), path)
    else:
        content = read_json(path)
    names = content.get("files")
    return names if isinstance(names, list) else []


def _existing(folder: StrPath, names: Iterable[str]) -> list[str]:
    """Returns, sorted, which of `names` are files in a folder."""
    exists, is_folder = os.path.lexists, os.path.isdir
    if is_remote(folder):
        from tensorflow.io import gfile

        exists, is_folder = gfile.exists, gfile.isdir
    return [
        name
        for name in sorted(names)
        if exists(path := os.path.join(folder, name)) and not is_folder(path)
    ]
