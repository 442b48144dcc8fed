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
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Generic, Self, TypeVar, Unpack, cast

from command_line.flag_metadata import (
    Field,
    FlagChanges,
    FlagDeclaration,
    FlagGroup,
    FlagProperties,
    Role,
    find_repeated_flags,
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base class of the flags of a script. `cli.run` calls its methods."""

    def __init_subclass__(cls) -> None:
        """Checks that no flag is defined twice.

        Raises:
            TypeError: two groups contain a flag of the same name, and neither
                group names it in `shared`.
        """
        if twice := find_repeated_flags(cls._declared_fields()):
            raise TypeError(
                f"{cls.__qualname__}: {twice} are flags of several groups; "
                "name them in `shared` of all groups but one"
            )

    @classmethod
    def _declared_fields(cls) -> dict[str, Field]:
        """Returns {name: field} of a class that is no dataclass yet.

        `__init_subclass__` runs before the decorator `dataclass` does, so
        `dataclasses.fields` knows only the fields of the base classes.
        """
        fields: dict[str, Field] = {}
        for parent in reversed(cls.__mro__[1:]):
            fields |= getattr(parent, "__dataclass_fields__", {})
        for name, value in vars(cls).items():
            if isinstance(value, dataclasses.Field):
                fields[name] = value
        return fields

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the outputs that the flags name."""
        return True

    def prepare(self, set_by_user: frozenset[str]) -> Self:
        """Returns the flags, completed by what other flags imply.

        Runs before the paths are checked and before any file is read.

        Args:
            set_by_user: names of the flags that the user set.

        Raises:
            ValueError: flags contradict each other.
        """
        return self

    def describe_missing(
        self, flag: str, run_settings: Mapping[str, object]
    ) -> str:
        """Returns what to set instead of a required flag that is not set.

        Args:
            flag: name of the flag.
            run_settings: settings that the resumed run recorded, {} for a new
                run.
        """
        return f"--{flag}"

    def download(self) -> Self:
        """Downloads models of a hub. Returns the flags with local folders.

        Runs after the paths are checked.

        Raises:
            ValueError, OSError: as `download_model` in
                model_folders/reading/hub.py raises them.
        """
        return self


ConfigT = TypeVar("ConfigT", bound=Config)
# Covariant, so that what takes the command of a Config accepts that of any
# script.
ConfigT_co = TypeVar("ConfigT_co", bound=Config, covariant=True)


@dataclasses.dataclass(frozen=True)
class ParsedCommand(Generic[ConfigT_co]):
    """The flags of a command, and who decided their values.

    The user decides first. What the user left open, other flags and the files
    of the command may decide: `config_values.decide_flags`. All flags that
    nothing decides have their defaults.

    Attributes:
        config: the flags.
        command: {flag that the user set: value as it was typed}.
        arguments: the other arguments: texts, or flags of Apache Beam. Empty
            for a script that accepts none (see `cli.run`).
        script: name of the script, without its folder.
        decided: names of the flags that other flags or files decided.
    """

    config: ConfigT_co
    command: Mapping[str, object] = dataclasses.field(default_factory=dict)
    arguments: Sequence[str] = ()
    script: str = ""
    decided: frozenset[str] = frozenset()

    @property
    def set_by_user(self) -> frozenset[str]:
        """Names of the flags that the user set."""
        return frozenset(self.command)
