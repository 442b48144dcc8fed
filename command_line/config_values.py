"""Reads and changes the values of a script's flags, in whatever group they are.

flags.py declares the flags. A Config is frozen, so each function that changes a
value returns another Config.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from command_line.flags import (
    Config,
    ConfigT,
    Role,
    flags_of,
    group_of,
    is_flag,
)
from command_line.path_flags import PathFlag


def create(config: type[ConfigT], **values: Any) -> ConfigT:
    """Creates a Config from the values of flags, whatever group they are in.

    Args:
        config: class of the script's flags.
        **values: {name of a flag: value}. Other flags have their defaults.

    Raises:
        TypeError: there is no flag of this name, or a flag that the user must
            set has no value.
    """
    defaults = {each.name: each.default for each in flags_of(config)}
    if unknown := values.keys() - defaults.keys():
        raise TypeError(f"{sorted(unknown)} are no flags of {config}")
    values = defaults | values
    missing = [k for k in values if values[k] is dataclasses.MISSING]
    if missing:
        raise TypeError(f"{missing} have no value")
    arguments = {}
    for field in dataclasses.fields(config):
        if is_flag(field):
            arguments[field.name] = values[field.name]
        elif group := group_of(field):
            inner = {k: values[k] for k in group.names()}
            arguments[field.name] = group.group_class(**inner)
    return config(**arguments)


def flat(config: Config) -> dict[str, Any]:
    """Returns {name: value} of all flags, whatever group they are in."""
    values = {}
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if is_flag(field):
            values[field.name] = value
        elif group := group_of(field):
            for inner in group.own_fields():
                values[inner.name] = getattr(value, inner.name)
    return values


def replace(config: ConfigT, **values: Any) -> ConfigT:
    """Returns a copy of a Config with other values of some flags.

    Args:
        config: the flags.
        **values: {name of a flag: value}, whatever group the flag is in.

    Raises:
        TypeError: there is no flag of this name.
    """
    known = {each.name for each in flags_of(config)}
    if unknown := values.keys() - known:
        raise TypeError(f"{sorted(unknown)} are no flags of {type(config)}")
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        if is_flag(field) and field.name in values:
            changes[field.name] = values[field.name]
        elif group := group_of(field):
            inner = {k: values[k] for k in group.names() & values.keys()}
            former = getattr(config, field.name)
            changes[field.name] = dataclasses.replace(former, **inner)
    return dataclasses.replace(config, **changes)


def fill(
    config: ConfigT,
    given: frozenset[str],
    stated: Mapping[str, object],
    source: str,
) -> ConfigT:
    """Returns the flags with the stated values of flags that no user set.

    Args:
        config: the flags.
        given: names of the flags that the user set.
        stated: {name: value, None if it is unknown}. Names that are no flags of
            this script are ignored.
        source: the file or folder that states the values.

    Raises:
        ValueError: a value is not valid for its flag.
    """
    names = unset(config, given)
    changes: dict[str, object] = {}
    for each in flags_of(config, *Role):
        value = stated.get(each.name)
        if value is None:
            continue
        if not each.is_valid(value):
            raise ValueError(
                f"{source}: `{each.name}` must not be {value!r:.80}"
            )
        if each.name in names:
            changes[each.name] = value
    return replace(config, **changes)


def unset(config: Config, given: frozenset[str]) -> set[str]:
    """Returns names of flags that no user set and that have their defaults.

    Args:
        config: the flags.
        given: names of the flags that the user set.
    """
    values = flat(config)
    defaults = {
        each.name
        for each in flags_of(config, *Role)
        if values[each.name] == each.default
    }
    return defaults - given


def path_flags(config: Config) -> list[PathFlag]:
    """Returns a PathFlag for each flag whose value is a path."""
    values = flat(config)
    return [
        PathFlag(each.name, values[each.name], each.meta.kind)
        for each in flags_of(config)
        if each.meta.kind is not None and values[each.name] is not None
    ]
