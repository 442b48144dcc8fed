"""Finds the file of a set, such as dev.tsv, in a data folder."""

import os
from collections.abc import Sequence

from data.io.compressed_files import uncompressed_name
from files.paths import StrPath


def find_set_file(
    data_dir: StrPath | None, set_name: str, file_names: Sequence[str]
) -> str:
    """Returns the path of the set `set_name` in a data folder.

    The file has one of the `file_names`, in lower or upper case, with or
    without an additional ending such as .gz.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there are several such files, or --data_dir is not set.
    """
    if data_dir is None:
        raise ValueError("--data_dir is not set. Set --data_dir or --labels")
    existing = []
    for file_name in file_names:
        folder, wanted = os.path.split(os.path.join(data_dir, file_name))
        existing += [
            os.path.join(folder, file)
            for file in sorted(_list_files(folder))
            if uncompressed_name(file) == wanted.lower()
        ]
    if not existing:
        raise FileNotFoundError(
            f"there is no {set_name} set in {data_dir}: it must be named "
            f"{' or '.join(file_names)}"
        )
    if len(existing) > 1:
        raise ValueError(f"keep only one of the files {' and '.join(existing)}")
    return existing[0]


def _list_files(folder: StrPath) -> list[str]:
    """Returns the names of the files of a folder, [] if there is none."""
    if not os.path.isdir(folder):
        return []
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_file()]
