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
   module. The `metadata` of the field records an `OptionDeclaration`, or an
   `OptionGroup` if the field is a group. The `Role` of an option says whether a
   trained model decides its value.
2. `Config.list_options` reads the fields of a Config and of its groups, and
   returns an `Option` for each. The command line does not show the groups.
3. command_line/flags.py defines a flag with absl for each `Option`, parses the
   command line, and creates the Config from the values.
4. cli.py passes the Config to the `main` of the script, as `ParsedCommand`.
"""

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias, TypedDict, TypeVar, Unpack, cast

ValueT = TypeVar("ValueT")
GroupT = TypeVar("GroupT")
# A field of a class of options. Any, because the fields have different types.
Field: TypeAlias = dataclasses.Field[Any]
# Keys of the metadata of fields.
_OPTION = "option"
_GROUP = "group"


class Role(enum.Enum):
    """Rule that a trained model imposes on the value of an option.

    A model's folder records the options of the model's training.

    IDENTITY: describes the network, or how text is tokenized. The default is
        the recorded value. Any other value is an error.
    HEAD: describes the head for a task. The default is the recorded value if a
        command uses the head without training it. A resumed run must not change
        the value.
    TRAINING: describes the training. The recorded value is never the default. A
        resumed run must not change the value.
    DECODING: describes how the model's outputs become answers. The default is
        chosen as for HEAD. A resumed run may change the value.
    NEUTRAL: changes no weight, and changes predictions only by rounding errors.
    """

    IDENTITY = "identity"
    HEAD = "head"
    TRAINING = "training"
    DECODING = "decoding"
    NEUTRAL = "neutral"


class PathType(enum.Enum):
    """Types of paths in the value of an option. path_flags.py checks them.

    A type says whether the path is read or written, so that the paths of a
    command are checked before any work.
    """

    INPUT_FILE = "input file"
    # FILE:NAME, a name that a file of Python code defines.
    CODE = "file of code"
    # Comma-separated paths or patterns.
    INPUT_FILES = "input files"
    DATA_FOLDER = "folder of input files"
    # Comma-separated folders, each optionally with a name: NAME=FOLDER.
    RUNS = "folders of runs to read"
    # A folder of weights, the prefix of a checkpoint, or one file of a model.
    MODEL = "model to read"
    OUTPUT_FILE = "output file"
    # Comma-separated paths.
    OUTPUT_FILES = "output files"
    # A folder for checkpoints, TFRecords and results. A resumed run reads them.
    RUN_FOLDER = "folder of a run"
    # A folder that is written at once and replaced completely, as in
    # model_folders/atomic_folders.py.
    NEW_FOLDER = "folder of a model"


class OptionProperties(TypedDict, total=False):
    """Properties of an option that few options set.

    Attributes:
        path_type: the PathType, if the value is a path.
        at_least, at_most: the bounds of a number.
        choices: the valid values of a string.
        is_repeated: True if the value is a list and the user repeats the option
            for each element. Otherwise commas separate the elements.
        may_grow: True if a resumed training may set a larger value.
    """

    path_type: PathType
    at_least: float
    at_most: float
    choices: Sequence[str]
    is_repeated: bool
    may_grow: bool


class OptionChanges(OptionProperties, total=False):
    """Properties of an option in a group that a script changes."""

    default: object
    help: str


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
    metadata = {_OPTION: OptionDeclaration(help, role, properties)}
    # Like `dataclasses.field`, this function has the type of the field's
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
    return cast(GroupT, dataclasses.field(metadata={_GROUP: declared}))


class OptionDeclaration(NamedTuple):
    """An option as `option` declares it, in the metadata of its field.

    Attributes:
        help: the help text.
        role: the Role, None for an option that trains no model.
        properties: the other properties.
    """

    help: str
    role: Role | None
    properties: OptionProperties


def is_option(field: Field) -> bool:
    """Returns whether a field of a Config or of a group is an option."""
    return _OPTION in field.metadata


def declaration_of(field: Field) -> OptionDeclaration:
    """Returns the declaration of a field that is an option."""
    declared: OptionDeclaration = field.metadata[_OPTION]
    return declared


@dataclasses.dataclass(frozen=True)
class OptionGroup:
    """A group of options in a Config, as `group` declares it.

    Attributes:
        group_class: dataclass of the group.
        without: names of its fields that are no options of the script.
        shared: names of its fields that are options of another group.
        changes: {name of an option: result of `option_changes`}.
    """

    group_class: type
    without: frozenset[str]
    shared: frozenset[str]
    changes: Mapping[str, OptionChanges]

    def own_fields(self) -> list[Field]:
        """Returns the fields that are options of this group."""
        return [
            field
            for field in dataclasses.fields(self.group_class)
            if is_option(field) and field.name not in self.without | self.shared
        ]

    def names_with_values(self) -> set[str]:
        """Returns the names of the fields whose values the command line sets.

        These are the group's own fields, and the shared fields. A shared field
        need not be declared as an option, because another group declares it.
        """
        fields = dataclasses.fields(self.group_class)
        names = {field.name for field in fields if field.init}
        names_of_options = {field.name for field in fields if is_option(field)}
        return (names_of_options - self.without) | (self.shared & names)


def group_of(field: Field) -> OptionGroup | None:
    """Returns the group that a field of a Config is, None for other fields."""
    declared: OptionGroup | None = field.metadata.get(_GROUP)
    return declared
