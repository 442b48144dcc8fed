"""The options that the fields of a Config and of its groups declare."""

import dataclasses
import functools
import types
import typing
from collections.abc import Sequence
from typing import Literal, cast

from options.fields import (
    Field,
    OptionChanges,
    OptionProperties,
    PathType,
    Role,
    declaration_of,
    group_of,
    is_option,
)


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of a script.

    Attributes:
        name: name of the option and of its field.
        value_type: type of the option's value, if the value is not None. See
            `_value_type`.
        default: the default, dataclasses.MISSING for an option that must be
            set.
        help: the help text.
        role: the Role, None for an option that trains no model.
        properties: other properties that the option sets.
    """

    name: str
    value_type: type
    default: object
    help: str
    role: Role | None
    properties: OptionProperties

    @property
    def path_type(self) -> PathType | None:
        """The PathType, None if the value is not a path."""
        return self.properties.get("path_type")

    @property
    def choices(self) -> Sequence[str] | None:
        """The valid values of a string, None for any."""
        return self.properties.get("choices")

    def is_valid(self, value: object) -> bool:
        """Returns whether the option may have a value from a file.

        Args:
            value: a value of JSON, not None.
        """
        if self.choices:
            return value in self.choices
        if self.value_type in (bool, str):
            return isinstance(value, self.value_type)
        if self.value_type in (int, float):
            return self._is_valid_number(value)
        # All other options are lists of strings.
        if not isinstance(value, list | tuple):
            return False
        return all(isinstance(element, str) for element in value)

    def _is_valid_number(self, value: object) -> bool:
        """Returns whether a value is a number within the option's bounds."""
        # In Python, True is a number.
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.value_type is int and not isinstance(value, int):
            return False
        lower = self.properties.get("at_least")
        upper = self.properties.get("at_most")
        is_too_small = lower is not None and value < lower
        is_too_large = upper is not None and value > upper
        return not (is_too_small or is_too_large)


# Cached, because several functions ask for the options of the same few classes.
@functools.cache
def create_options(config_class: type) -> list[Option]:
    """Creates the options of a Config and of its groups, in their order."""
    all_options = []
    for field in dataclasses.fields(config_class):
        if is_option(field):
            all_options.append(_create_option(config_class, field, {}))
        elif declared := group_of(field):
            for inner in declared.own_fields():
                changes = declared.changes.get(inner.name, {})
                all_options.append(
                    _create_option(declared.group_class, inner, changes)
                )
    return all_options


_type_hints = functools.cache(typing.get_type_hints)


def _create_option(owner: type, field: Field, changes: OptionChanges) -> Option:
    """Creates the Option of a field of the class `owner`, with `changes`."""
    default = changes.get("default", field.default)
    if default is ...:
        default = dataclasses.MISSING
    declared = declaration_of(field)
    other_changes = {
        name: value
        for name, value in changes.items()
        if name not in {"default", "help"}
    }
    return Option(
        name=field.name,
        value_type=_value_type(_type_hints(owner)[field.name]),
        default=default,
        help=changes.get("help", declared.help),
        role=declared.role,
        # `option_changes` accepts no other names and types of changes.
        properties=cast(
            OptionProperties, {**declared.properties, **other_changes}
        ),
    )


def _value_type(hint: object) -> type:
    """Returns the type of an option's values, from the type hint of its field.

    >>> _value_type(int | None)
    <class 'int'>
    >>> _value_type(Literal["local", "beam"] | None)
    <class 'str'>
    >>> _value_type(Sequence[str])
    collections.abc.Sequence[str]
    """
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is Literal:
        hint = type(typing.get_args(hint)[0])
    # A generic type, such as Sequence[str], stands for its values too.
    return cast(type, hint)
