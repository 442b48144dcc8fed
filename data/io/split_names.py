"""Names the splits that a command reads, and tells what they are for.

A split is named after its purpose. If a task has two sets for a purpose, the
name of the second split has a suffix: MultiNLI's dev sets are the splits "eval"
and "eval_mm".
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, TypeGuard

# What a command reads a split for.
Purpose: TypeAlias = Literal["train", "eval", "predict"]
# {purpose: name of its set in a data folder, and in Google's code}.
SETS: Final[Mapping[Purpose, str]] = {
    "train": "train",
    "eval": "dev",
    "predict": "test",
}


def is_purpose(split: str) -> TypeGuard[Purpose]:
    """Returns whether the name of a split is its purpose, without a suffix."""
    return split in SETS


def purpose_of(split: str) -> Purpose:
    """Returns the purpose of a split: "eval" for "eval" and for "eval_mm".

    Raises:
        ValueError: the name does not begin with a purpose.
    """
    purpose = split.partition("_")[0]
    if not is_purpose(purpose):
        raise ValueError(f"the split {split!r} is named after no purpose")
    return purpose


def suffix_of(split: str) -> str:
    """Returns "_mm" for the split "eval_mm", and "" for "eval"."""
    return "".join(split.partition("_")[1:])
