"""Names the sets of a data folder, and the splits that a command reads.

Three words, which mean the same in all modules:

    set: rows that the user keeps apart: "train", "dev" or "test"
    purpose: what a command reads a set for: "train", "eval" or "predict"
    split: a set as a command reads it, which is named after the purpose

If a task has two sets for a purpose, the name of the second split has a suffix:
MultiNLI's dev sets are the splits "eval" and "eval_mm". The suffix is the
task's own, so that the type of a split's name is `str`.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, TypeGuard

# What a command reads a split for.
Purpose: TypeAlias = Literal["train", "eval", "predict"]
# What a set is called in a data folder, and in Google's code.
SetName: TypeAlias = Literal["train", "dev", "test"]
SET_OF_PURPOSE: Final[Mapping[Purpose, SetName]] = {
    "train": "train",
    "eval": "dev",
    "predict": "test",
}


def is_purpose(split_name: str) -> TypeGuard[Purpose]:
    """Returns whether the name of a split is its purpose, without a suffix."""
    return split_name in SET_OF_PURPOSE


def purpose_of(split_name: str) -> Purpose:
    """Returns the purpose of a split: "eval" for "eval" and for "eval_mm".

    Raises:
        ValueError: the name does not begin with a purpose.
    """
    purpose = split_name.partition("_")[0]
    if not is_purpose(purpose):
        raise ValueError(f"the split {split_name!r} is named after no purpose")
    return purpose


def suffix_of(split_name: str) -> str:
    """Returns "_mm" for the split "eval_mm", and "" for "eval"."""
    return "".join(split_name.partition("_")[1:])
