"""Names the sets of a task, and the files that contain them.

A set is named "train", "dev" or "test", as in a data folder and in Google's
code: these are the base sets. If a task has two sets of a kind, the name of the
second one has a suffix: MultiNLI's dev sets are "dev" and "dev_mm". The suffix
is the task's own, so that a `SetName` may be any text. A `BaseSet` is one of
the three.

Files of a run follow Google's code: the records of the set "dev" are in
eval.tf_record, and the records of the set "test" in predict.tf_record.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, TypeGuard, get_args

from data.io.compressed_files import uncompressed_name
from files.paths import StrPath

# The name of a set, such as "dev" or "dev_mm".
SetName: TypeAlias = str
# A name without a suffix.
BaseSet: TypeAlias = Literal["train", "dev", "test"]
BASE_SETS: Final[tuple[BaseSet, ...]] = get_args(BaseSet)
_FILE_STEM_OF_SET: Final[Mapping[BaseSet, str]] = {
    "train": "train",
    "dev": "eval",
    "test": "predict",
}


def is_base_set(set_name: SetName) -> TypeGuard[BaseSet]:
    """Returns whether the name of a set has no suffix."""
    return set_name in BASE_SETS


def base_set_of(set_name: SetName) -> BaseSet:
    """Returns the name without its suffix: "dev" for "dev" and for "dev_mm".

    Raises:
        ValueError: the name begins with the name of no set.
    """
    base_set = set_name.partition("_")[0]
    if not is_base_set(base_set):
        raise ValueError(
            f"a set is named {set_name!r}, which does not begin with "
            f"{', '.join(BASE_SETS)}"
        )
    return base_set


def suffix_of(set_name: SetName) -> str:
    """Returns "_mm" for the set "dev_mm", and "" for "dev"."""
    return "".join(set_name.partition("_")[1:])


def file_stem_of(set_name: SetName) -> str:
    """Returns "eval_mm" for the set "dev_mm", as files of a run name it."""
    return _FILE_STEM_OF_SET[base_set_of(set_name)] + suffix_of(set_name)


def find_set_file(
    data_dir: StrPath | None, set_name: str, file_names: Sequence[str]
) -> str:
    """Returns the path of the set `set_name` in a data folder.

    The file has one of the `file_names`, in lower or upper case, with or
    without an additional ending such as .gz.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there are several such files, or `data_dir` is None.
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
