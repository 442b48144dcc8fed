"""Flags of a script in two groups, as the scripts define them.

For example:

    config = Config.from_values(folder="x", length=9)
"""

import dataclasses

import options.config
from options import fields
from options.fields import group, option_changes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loop:
    """Flags of a group, one of them required, and a field that is no flag."""

    steps: int = fields.training_option(10, "Number of steps.", at_least=1)
    length: int = fields.head_option(128, "Length.")
    folder: str = fields.neutral_option(..., "Folder.")
    patience: int = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Windows:
    """A group with a flag of the same name."""

    length: int = fields.head_option(384, "Length of a window.")
    stride: int = fields.head_option(64, "Stride.")
    patience: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(options.config.Config):
    """Flags of a script: two groups, which share `length`, and one flag."""

    loop: Loop = group(
        Loop, steps=option_changes(default=5), shared=("length",)
    )
    windows: Windows = group(Windows, without=("stride",))
    name: str | None = fields.option(None, "Name.")
