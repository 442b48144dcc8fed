"""Reads and writes lists of the files that this project wrote to a folder.

When the project writes a model, it never overwrites a file that is not on such
a list. The list of an export names all files of its folder, because a new
export replaces the whole folder. The list of weights names only the model's
files, because the folder may also contain files of the user. Files of an
earlier model must not stay in the folder, because they could be mistaken for
files of the new model.
"""

import os
from collections.abc import Iterable

from files.atomic import is_remote, write_json
from files.json_files import parse_json, read_json
from files.paths import StrPath

# Names of the lists in the folder of an export and in a folder of weights. They
# differ, so that an export never replaces a folder of weights.
EXPORT = "bert_export.json"
WEIGHTS = "bert_weights.json"
# File name of a model card.
CARD = "README.md"
# Endings of the names of the two files of a TensorFlow checkpoint.
ENDINGS = (".index", ".data-00000-of-00001")
# Files that describe the weights in the same folder.
DESCRIPTIONS = frozenset(
    "bert_config.json labels.txt vocab.txt tokenizer_config.json "
    "model.json".split()
)
# All files that a Google release, a Hugging Face model or a converted model may
# contain.
MODEL_FILES = DESCRIPTIONS | {
    *(f"bert_model.ckpt{ending}" for ending in ENDINGS),
    *("model.safetensors", "config.json", "tokenizer.json"),
    "special_tokens_map.json",
}


def release_files(path: StrPath) -> tuple[str, list[str]]:
    """Returns the folder of a model, and the names of its checkpoint's files.

    Args:
        path: path of the folder, or the prefix of a checkpoint in it, which
            ends in `.ckpt`.
    """
    folder, name = os.fspath(path), "bert_model.ckpt"
    if folder.endswith(".ckpt"):
        folder, name = os.path.split(folder)
    return folder or ".", [f"{name}{ending}" for ending in ENDINGS]


def check(folder: StrPath, names: Iterable[str], where: str) -> None:
    """Raises an error if writing a model would replace a user's file.

    Args:
        folder: folder to which the model will be written.
        names: names of the model's files.
        where: beginning of the error message, such as a flag.

    Raises:
        OSError: the folder's list of weights cannot be read.
        ValueError: the folder contains a file with one of the `names` that is
            not on its list of weights.
    """
    ours = listed(folder, WEIGHTS)
    foreign = [name for name in _existing(folder, names) if name not in ours]
    if foreign:
        raise ValueError(
            f"{where}: {os.fspath(folder)} contains {', '.join(foreign)}. No "
            f"{WEIGHTS} in the folder lists these files, so they may be yours. "
            "Move them away, or use another path"
        )


def check_whole(folder: StrPath, names: Iterable[str]) -> None:
    """Checks that a new model may replace the model in a folder.

    `names` are the names of the new model's files.

    Raises:
        OSError: the folder's list of weights cannot be read.
        ValueError: the new model would replace a user's file, or other files of
            an earlier model would stay in the folder beside the new model.
    """
    check(folder, names, "the model cannot be written")
    ours = {
        name
        for name in listed(folder, WEIGHTS)
        if name in MODEL_FILES or name.endswith(ENDINGS)
    }
    if left := _existing(folder, ours.difference(names)):
        raise ValueError(
            f"{os.fspath(folder)} contains a model, and writing the new model "
            f"would not replace its {', '.join(left)}. Move the old model "
            "away, or use another folder"
        )


def has_own_card(folder: StrPath) -> bool:
    """Returns whether the user wrote the README.md in a folder.

    Raises:
        OSError: the folder's list of weights cannot be read.
    """
    is_there = bool(_existing(folder, [CARD]))
    return is_there and CARD not in listed(folder, WEIGHTS)


def add(folder: StrPath, names: Iterable[str]) -> None:
    """Adds names of files to a folder's list of weights.

    Call this before writing the files. Otherwise, if the process is killed, the
    project would treat the files as a user's files.

    Raises:
        OSError: the list cannot be read or written.
    """
    write(folder, WEIGHTS, {*listed(folder, WEIGHTS), *names})


def write(folder: StrPath, name: str, names: Iterable[str]) -> None:
    """Writes a folder's list of files. `name` is EXPORT or WEIGHTS.

    Raises:
        OSError: the list cannot be written.
    """
    write_json(os.path.join(folder, name), {"files": sorted(names)})


def listed(folder: StrPath, name: str) -> list[str]:
    """Reads a folder's list of files. `name` is EXPORT or WEIGHTS.

    Returns the listed paths, or [] if there is no list.

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
    exists, is_folder = os.path.lexists, os.path.isdir
    if is_remote(folder):
        from tensorflow.io import gfile

        exists, is_folder = gfile.exists, gfile.isdir
    return [
        name
        for name in sorted(names)
        if exists(path := os.path.join(folder, name)) and not is_folder(path)
    ]
