"""Reads the flags that a Config declares, see flags.py."""

import dataclasses
import functools
import types
import typing
from collections.abc import Sequence
from typing import Any, Literal, cast

from options.config import Config
from options.metadata import (
    Field,
    FlagChanges,
    FlagProperties,
    Role,
    declaration_of,
    group_of,
    is_flag,
)
from options.path_kinds import PathKind

_type_hints = functools.cache(typing.get_type_hints)


@dataclasses.dataclass(frozen=True)
class Flag:
    """A flag of a script.

    Attributes:
        name: name of the flag and of its field.
        value_type: type of the flag's value, if the value is not None. See
            `_value_type`.
        default: the default, dataclasses.MISSING if the user must set the flag.
        help: the help text.
        role: the Role, None for a flag that trains no model.
        properties: other properties that the flag sets.
    """

    name: str
    value_type: type
    default: object
    help: str
    role: Role | None
    properties: FlagProperties

    @property
    def kind(self) -> PathKind | None:
        """The PathKind, None if the value is not a path."""
        return self.properties.get("kind")

    @property
    def choices(self) -> Sequence[str] | None:
        """The valid values of a string, None for any."""
        return self.properties.get("choices")

    def is_valid(self, value: object) -> bool:
        """Returns whether the flag may have a value that a file states.

        Args:
            value: a value of JSON, not None.
        """
        if self.choices:
            return value in self.choices
        if self.value_type in (bool, str):
            return isinstance(value, self.value_type)
        if self.value_type in (int, float):
            return self._is_valid_number(value)
        # All other flags are lists of strings.
        if not isinstance(value, list | tuple):
            return False
        return all(isinstance(element, str) for element in value)

    def _is_valid_number(self, value: object) -> bool:
        """Returns whether a value is a number within the flag's bounds."""
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


def flags_of(config: Config | type[Config], *roles: Role) -> list[Flag]:
    """Returns the flags of a script, or only flags with one of the roles."""
    config_class: type = config if isinstance(config, type) else type(config)
    return [
        script_flag
        for script_flag in _create_flags(config_class)
        if not roles or script_flag.role in roles
    ]


# Cached, because several functions ask for the flags of the same few classes.
@functools.cache
def _create_flags(config_class: type) -> list[Flag]:
    """Creates the flags of a Config and of its groups, in their order."""
    all_flags = []
    for field in dataclasses.fields(config_class):
        if is_flag(field):
            all_flags.append(_create_flag(config_class, field, {}))
        elif declared := group_of(field):
            for inner in declared.own_fields():
                changes = declared.changes.get(inner.name, {})
                all_flags.append(
                    _create_flag(declared.group_class, inner, changes)
                )
    return all_flags


def _create_flag(owner: type, field: Field, changes: FlagChanges) -> Flag:
    """Creates the Flag of a field of the class `owner`, with `changes`."""
    default = changes.get("default", field.default)
    if default is ...:
        default = dataclasses.MISSING
    declared = declaration_of(field)
    other_changes = {
        name: value
        for name, value in changes.items()
        if name not in {"default", "help"}
    }
    return Flag(
        name=field.name,
        value_type=_value_type(_type_hints(owner)[field.name]),
        default=default,
        help=changes.get("help", declared.help),
        role=declared.role,
        # `like` accepts no other names and types of changes.
        properties=cast(
            FlagProperties, {**declared.properties, **other_changes}
        ),
    )


def _value_type(hint: Any) -> type:  # noqa: ANN401  types have no common type
    """Returns the type of a flag's values, from the type hint of its field.

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
    value_type: type = hint
    return value_type
