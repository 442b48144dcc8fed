"""The metadata of a field that declares an option, or a group of options.

The functions of fields.py create the fields. Each field has an entry in its
`metadata`: an `OptionDeclaration` if it is an option, an `OptionGroup` if it is
a group. declared_options.py and config_values.py read the entries.
"""

import collections
import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict

from options.path_types import PathType

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

    def as_metadata(self) -> dict[str, object]:
        """Returns the metadata of the field that is this option."""
        return {_OPTION: self}


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

    def as_metadata(self) -> dict[str, object]:
        """Returns the metadata of the field that is this group."""
        return {_GROUP: self}


def group_of(field: Field) -> OptionGroup | None:
    """Returns the group that a field of a Config is, None for other fields."""
    declared: OptionGroup | None = field.metadata.get(_GROUP)
    return declared


def list_repeated_options(fields: Mapping[str, Field]) -> list[str]:
    """Returns the names of the options that several of the fields define.

    Args:
        fields: {name: field} of a Config. Fields that are neither an option nor
            a group define no option.
    """
    counts: collections.Counter[str] = collections.Counter()
    for name, field in fields.items():
        if is_option(field):
            counts[name] += 1
        elif declared := group_of(field):
            counts.update(inner.name for inner in declared.own_fields())
    return [name for name, count in counts.items() if count > 1]
