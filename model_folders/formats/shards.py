"""Reads the index of weights that are stored in several files.

The index is a JSON file beside these files, such as
model.safetensors.index.json. Its `weight_map` names the file of each weight.
"""

import os
import re

from files.json_files import read_json
from model_folders.formats.weight_entries import printable_name


def read_weight_map(path: str) -> dict[str, object]:
    """Returns {name of a weight: the entry of the index, which names its file}.

    Raises:
        OSError: the index cannot be read.
        ValueError: the index is malformed.
    """
    files = read_json(path).get("weight_map")
    if not isinstance(files, dict) or not files:
        raise ValueError(
            f"{path}: `weight_map` must be an object of names and files. "
            f"Received: {files!r:.80}"
        )
    return files


def read_shard_paths(path: str, ending: str) -> dict[str, str]:
    """Returns {name of a weight: path of the file that contains the weight}.

    `path` is the path of the index, NAME.index.json. The name of each file must
    have the `ending`.
    """
    return {
        name: shard_path(path, name, file, ending)
        for name, file in read_weight_map(path).items()
    }


def list_shards(path: str) -> list[str]:
    """Returns the paths of the files that an index lists, sorted.

    Args:
        path: path of the index, such as NAME.safetensors.index.json, which says
            how the names of the files end.
    """
    _, ending = os.path.splitext(path.removesuffix(".index.json"))
    return sorted({*read_shard_paths(path, ending).values()})


def shard_path(path: str, name: str, file: object, ending: str) -> str:
    """Returns the path of the `file` that an index names for a weight.

    The name of the file must have the `ending`.

    Raises:
        ValueError: `file` is not the name of a file in the index's folder.
    """
    if (
        not isinstance(file, str)
        or not file.endswith(ending)
        or re.search(r"[/\\\0]", file)
    ):
        raise ValueError(
            f"{path}: `weight_map` must list a *{ending} of this folder "
            f"for {printable_name(name)}. Received: {file!r:.80}"
        )
    return os.path.join(os.path.dirname(path), file)


def missing_entry_error(file: str, name: str, index: str) -> OSError:
    """Returns the error for a file without an entry that its index lists."""
    return OSError(
        f"{file} lacks {printable_name(name)}, which {index} lists there; "
        "download both again"
    )
