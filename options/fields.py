"""Declares command-line flags as fields of frozen dataclasses.

A class of flags defines the default, the check and the help of each flag:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class OptimizerFlags:
        learning_rate: float = flag(5e-5, "Peak learning rate.", at_least=0)

The Config of a script has flags of its own, and groups of flags that it shares
with other scripts:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Config(flags.Config):
        optimizer: OptimizerFlags = group(
            OptimizerFlags, learning_rate=like(default=2e-5)
        )
        train_file: str = flag(..., "File to train on.")

A function has a parameter for the group that it needs, such as
`config.optimizer`. A field without a default is a flag that the user must set.

The way of a flag, from its declaration to its use:

1. Here, a field of a Config or of a group declares it. flag_metadata.py says
   what the field records, and by its `Role` what a trained model imposes on
   it.
2. declared_flags.py reads the fields of a Config and of its groups, which the
   command line does not show, and returns a `Flag` for each.
3. flag_parsing.py defines the flags with absl, cli.py lets absl parse the
   command line, and flag_parsing.py reads the values.
4. config_values.py creates the Config from the values.
5. cli.py passes the Config to the `main` of the script, as `ParsedCommand`.
"""

import dataclasses
from collections.abc import Sequence
from types import EllipsisType
from typing import TypeVar, Unpack, cast

from options.metadata import (
    FlagChanges,
    FlagDeclaration,
    FlagGroup,
    FlagProperties,
    Role,
)

ValueT = TypeVar("ValueT")
GroupT = TypeVar("GroupT")


def flag(
    default: ValueT | EllipsisType,
    help: str,
    role: Role | None = None,
    **properties: Unpack[FlagProperties],
) -> ValueT:
    """Returns a dataclass field that is also a command-line flag.

    A type checker sees the default as the field's value, so it rejects a
    default that is not of the field's type.

    Args:
        default: default of the field and the flag. `...` = there is no default,
            so the user must set the flag.
        help: help text of the flag.
        role: the Role, None for a flag that trains no model.
        **properties: other properties, see `FlagProperties`.
    """
    metadata = FlagDeclaration(help, role, properties).as_metadata()
    # Like `dataclasses.field`, this function states the type of the field's
    # value as its own return type.
    if default is ...:
        return cast(ValueT, dataclasses.field(metadata=metadata))
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class _FlagOfRole:
    """Declares flags with one Role, as `flag` does without the argument."""

    role: Role

    def __call__(
        self,
        default: ValueT | EllipsisType,
        help: str,
        **properties: Unpack[FlagProperties],
    ) -> ValueT:
        """Returns a dataclass field, as `flag` does."""
        return flag(default, help, self.role, **properties)


# One for each Role, whose docstring says which one suits a flag.
identity_flag = _FlagOfRole(Role.IDENTITY)
head_flag = _FlagOfRole(Role.HEAD)
training_flag = _FlagOfRole(Role.TRAINING)
decoding_flag = _FlagOfRole(Role.DECODING)
neutral_flag = _FlagOfRole(Role.NEUTRAL)


def like(**changes: Unpack[FlagChanges]) -> FlagChanges:
    """Returns a script's changes of a flag in a group, for `group`.

    Args:
        **changes: `default`, `help`, and other properties, see
            `FlagProperties`. The default `...` makes a flag that the user must
            set.
    """
    return changes


def group(
    group_class: type[GroupT],
    *,
    without: Sequence[str] = (),
    shared: Sequence[str] = (),
    **changes: FlagChanges,
) -> GroupT:
    """Returns a field of a Config that is a group of flags.

    For example, run_squad.py has all flags of TrainingFlags but --do_eval. Both
    of its groups have a field `trim_padding`. The group `training` defines the
    flag, and the group `decoding` gets the same value:

        training: TrainingFlags = group(TrainingFlags, without=("do_eval",))
        decoding: DecodingOptions = group(
            DecodingOptions, shared=("trim_padding",)
        )

    Args:
        group_class: dataclass of the group.
        without: names of fields that are no flags of this script. These fields
            keep their defaults.
        shared: names of fields that are flags of another group of the same
            script, or of the script itself. These fields get the value of that
            flag.
        **changes: {name of a flag: result of `like`}.
    """
    declared = FlagGroup(
        group_class, frozenset(without), frozenset(shared), changes
    )
    # As for a flag, the stated type is the type of the field's value.
    return cast(GroupT, dataclasses.field(metadata=declared.as_metadata()))
