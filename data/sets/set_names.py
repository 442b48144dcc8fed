"""Names the sets of a task.

A set is named "train", "dev" or "test", as in a data folder and in Google's
code: these are the base sets. If a task has two sets of a kind, the name of the
second one has a suffix: MultiNLI's dev sets are "dev" and "dev_mm". The suffix
is the task's own, so that a `SetName` may be any text. A `BaseSet` is one of
the three.

Files of a run follow Google's code: the records of the set "dev" are in
eval.tf_record, and those of the set "test" in predict.tf_record.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, TypeGuard, get_args

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
