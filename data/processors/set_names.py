"""Names the sets of a task.

A set is named "train", "dev" or "test", as in a data folder and in Google's
code. If a task has two sets of a kind, the name of the second one has a suffix:
MultiNLI's dev sets are "dev" and "dev_mm". The suffix is the task's own, so
that the type of a set's name may be `str`.

Files of a run follow Google's code: the records of the set "dev" are in
eval.tf_record, and those of the set "test" in predict.tf_record.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, TypeGuard, get_args

# The name of a set without a suffix.
SetName: TypeAlias = Literal["train", "dev", "test"]
SET_NAMES: Final[tuple[SetName, ...]] = get_args(SetName)
_FILE_STEM_OF_SET: Final[Mapping[SetName, str]] = {
    "train": "train",
    "dev": "eval",
    "test": "predict",
}


def is_set_name(set_name: str) -> TypeGuard[SetName]:
    """Returns whether the name of a set has no suffix."""
    return set_name in SET_NAMES


def base_set_of(set_name: str) -> SetName:
    """Returns the name without its suffix: "dev" for "dev" and for "dev_mm".

    Raises:
        ValueError: the name begins with the name of no set.
    """
    base_set = set_name.partition("_")[0]
    if not is_set_name(base_set):
        raise ValueError(
            f"a set is named {set_name!r}, which does not begin with "
            f"{', '.join(SET_NAMES)}"
        )
    return base_set


def suffix_of(set_name: str) -> str:
    """Returns "_mm" for the set "dev_mm", and "" for "dev"."""
    return "".join(set_name.partition("_")[1:])


def file_stem_of(set_name: str) -> str:
    """Returns "eval_mm" for the set "dev_mm", as files of a run name it."""
    return _FILE_STEM_OF_SET[base_set_of(set_name)] + suffix_of(set_name)
