"""Reads the flags that a Config declares, see flags.py."""

import dataclasses
import functools
import types
import typing
from collections.abc import Sequence
from typing import cast

from command_line.flags import (
    Config,
    Field,
    FlagChanges,
    FlagProperties,
    Role,
    declaration_of,
    group_of,
    is_flag,
)
from command_line.path_flags import PathKind


@dataclasses.dataclass(frozen=True)
class Flag:
    """A flag of a script.

    Attributes:
        name: name of the flag and of its field.
        value_type: type of its value, of `str | None` only str. str of a
            Literal.
        default: the default, dataclasses.MISSING if the user must set the flag.
        help: the help text.
        role: the Role, which the functions `identity`, `head`, `training`,
            `decoding` and `neutral` set. None for a flag that trains no model.
        properties: the properties that the flag sets, besides these.
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
        """Returns whether a value of a file may be the value of the flag."""
        if self.choices:
            return value in self.choices
        if self.value_type in (bool, str):
            return isinstance(value, self.value_type)
        if self.value_type in (int, float):
            return self._is_number(value)
        if not isinstance(value, list | tuple):
            return False
        return all(isinstance(element, str) for element in value)

    def _is_number(self, value: object) -> bool:
        """Returns whether a value is a number within the flag's bounds."""
        # Python takes True for a number.
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
    """Returns the flags of a script, or only those with one of the roles."""
    config_class: type = config if isinstance(config, type) else type(config)
    return [
        script_flag
        for script_flag in _create_flags(config_class)
        if not roles or script_flag.role in roles
    ]


@functools.cache
def _create_flags(config_class: type) -> list[Flag]:
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
    hint = _type_hints(owner)[field.name]
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        # `int | None` is a flag of type int.
        hint = typing.get_args(hint)[0]
    if typing.get_origin(hint) is typing.Literal:
        hint = type(typing.get_args(hint)[0])
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
        value_type=hint,
        default=default,
        help=changes.get("help", declared.help),
        role=declared.role,
        # `like` accepts no other names and types of changes.
        properties=cast(
            FlagProperties, {**declared.properties, **other_changes}
        ),
    )


_type_hints = functools.cache(typing.get_type_hints)
