"""Declares options as fields of frozen dataclasses.

A class of options defines the default, the check and the help of each option:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class OptimizerOptions:
        learning_rate: float = option(5e-5, "Peak learning rate.", at_least=0)

The Config of a script has options of its own, and groups of options that it
shares with other scripts:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class TrainConfig(Config):
        optimizer: OptimizerOptions = group(
            OptimizerOptions, learning_rate=option_changes(default=2e-5)
        )
        train_file: str = option(..., "File to train on.")

A function has a parameter for the group that it needs, such as
`optimizer: OptimizerOptions`. A field without a default is an option that must
be set.

An option takes these steps from its declaration to its use in a script:

1. A field of a Config or of a group declares the option, by a function of this
   module. metadata.py says what the field records. The `Role` in it says
   whether a trained model decides the value.
2. declared_options.py reads the fields of a Config and of its groups, and
   returns an `Option` for each. The command line does not show the groups.
3. command_line/flag_definition.py defines a flag with absl for each `Option`,
   and command_line/flag_parsing.py parses the command line and reads the
   values.
4. config_values.py creates the Config from the values.
5. cli.py passes the Config to the `main` of the script, as `ParsedCommand`.
"""

import dataclasses
from collections.abc import Sequence
from types import EllipsisType
from typing import TypeVar, Unpack, cast

from options.metadata import (
    OptionChanges,
    OptionDeclaration,
    OptionGroup,
    OptionProperties,
    Role,
)

ValueT = TypeVar("ValueT")
GroupT = TypeVar("GroupT")


def option(
    default: ValueT | EllipsisType,
    help: str,
    role: Role | None = None,
    **properties: Unpack[OptionProperties],
) -> ValueT:
    """Returns a dataclass field that a script turns into a flag.

    A type checker sees the default as the field's value, so it rejects a
    default that is not of the field's type.

    Args:
        default: default of the field. `...` means that there is no default, so
            the option must be set.
        help: help text of the option.
        role: the Role, None for an option that trains no model.
        **properties: other properties, such as `choices`, the valid values, or
            `at_least` and `at_most`, the bounds of a number.
    """
    metadata = OptionDeclaration(help, role, properties).as_metadata()
    # Like `dataclasses.field`, this function states the type of the field's
    # value as its own return type.
    if default is ...:
        return cast(ValueT, dataclasses.field(metadata=metadata))
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class _OptionOfRole:
    """A function like `option`, which declares options of one Role."""

    role: Role

    def __call__(
        self,
        default: ValueT | EllipsisType,
        help: str,
        **properties: Unpack[OptionProperties],
    ) -> ValueT:
        """Returns a dataclass field that a script turns into a flag."""
        return option(default, help, self.role, **properties)


# One for each Role, whose docstring says which one suits an option.
identity_option = _OptionOfRole(Role.IDENTITY)
head_option = _OptionOfRole(Role.HEAD)
training_option = _OptionOfRole(Role.TRAINING)
decoding_option = _OptionOfRole(Role.DECODING)
neutral_option = _OptionOfRole(Role.NEUTRAL)


def option_changes(**changes: Unpack[OptionChanges]) -> OptionChanges:
    """Returns a script's changes of an option in a group, for `group`.

    Args:
        **changes: `default`, `help`, and other properties, see
            `OptionProperties`. The default `...` makes an option that must be
            set.
    """
    return changes


def group(
    group_class: type[GroupT],
    *,
    without: Sequence[str] = (),
    shared: Sequence[str] = (),
    **changes: OptionChanges,
) -> GroupT:
    """Returns a field of a Config that is a group of options.

    For example, run_squad.py has all options of TrainingOptions but --do_eval.
    Both of its groups have a field `trim_padding`. The group `training` defines
    the option, and the group `decoding` gets the same value:

        training: TrainingOptions = group(TrainingOptions, without=("do_eval",))
        decoding: DecodingOptions = group(
            DecodingOptions, shared=("trim_padding",)
        )

    Args:
        group_class: dataclass of the group.
        without: names of fields that are no options of this script. They have
            their defaults.
        shared: names of fields that are options of another group of the same
            script, or of the script itself. These fields get the value of that
            option.
        **changes: {name of an option: result of `option_changes`}.
    """
    declared = OptionGroup(
        group_class, frozenset(without), frozenset(shared), changes
    )
    # As for an option, the stated type is the type of the field's value.
    return cast(GroupT, dataclasses.field(metadata=declared.as_metadata()))
