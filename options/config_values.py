"""Creates a Config, reads its values, and copies it with other values.

A Config is frozen, so each function that changes a value returns another
Config. In it, all groups that share an option have the same value.
"""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

from options.config import Config, ConfigT
from options.declared_options import options_of
from options.metadata import group_of, is_option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def create_config(config_class: type[ConfigT], **values: object) -> ConfigT:
    """Creates a Config from the values of options, whatever group they are in.

    Args:
        config_class: class of the script's options.
        **values: {name of an option: value}. Other options have their defaults.

    Raises:
        TypeError: there is no option of this name, or an option that must be
            set has no value.
    """
    defaults = {
        option.name: option.default for option in options_of(config_class)
    }
    if unknown := values.keys() - defaults.keys():
        raise TypeError(f"{sorted(unknown)} are no flags of {config_class}")
    values = defaults | values
    missing = [
        name for name, value in values.items() if value is dataclasses.MISSING
    ]
    if missing:
        raise TypeError(f"{missing} have no value")
    arguments = {}
    for field in dataclasses.fields(config_class):
        if is_option(field):
            arguments[field.name] = values[field.name]
        elif group := group_of(field):
            group_values = {
                name: values[name] for name in group.names_with_values()
            }
            arguments[field.name] = group.group_class(**group_values)
    return config_class(**arguments)


def option_values_of(config: Config) -> dict[str, object]:
    """Returns {name: value} of all options, whatever group they are in."""
    values = {}
    for field in dataclasses.fields(config):
        option_or_group = getattr(config, field.name)
        if is_option(field):
            values[field.name] = option_or_group
        elif group := group_of(field):
            for inner in group.own_fields():
                values[inner.name] = getattr(option_or_group, inner.name)
    return values


def with_groups(config: ConfigT, *groups: "DataclassInstance") -> ConfigT:
    """Returns a copy of a Config with the values of other groups.

    All groups that share an option get its new value. For example, a copy that
    trains:

        with_groups(config, dataclasses.replace(config.training, do_train=True))

    Args:
        config: the options to copy.
        *groups: copies of groups of the Config, with other values.

    Raises:
        TypeError: the Config contains no such group, or another value is not
            that of an option.
    """
    values: dict[str, object] = {}
    for group in groups:
        former = _find_group(config, type(group))
        for field in dataclasses.fields(former):
            value = getattr(group, field.name)
            if value != getattr(former, field.name):
                values[field.name] = value
    return with_values(config, values)


def _find_group(config: Config, group_class: type) -> "DataclassInstance":
    """Returns the group of a Config that is of a class.

    Raises:
        TypeError: the Config contains no such group.
    """
    for field in dataclasses.fields(config):
        declared = group_of(field)
        if declared and declared.group_class is group_class:
            group: DataclassInstance = getattr(config, field.name)
            return group
    raise TypeError(f"{type(config)} contains no group of {group_class}")


def with_values(config: ConfigT, values: Mapping[str, object]) -> ConfigT:
    """Returns a copy of a Config with values that a file states.

    Code that knows the names calls `with_groups`, which a type checker checks.

    Args:
        config: the options to copy.
        values: {name of an option: value}, whatever group the option is in.

    Raises:
        TypeError: there is no option of this name.
    """
    names = {option.name for option in options_of(config)}
    if unknown := values.keys() - names:
        raise TypeError(f"{sorted(unknown)} are no flags of {type(config)}")
    changes: dict[str, object] = {}
    for field in dataclasses.fields(config):
        if is_option(field) and field.name in values:
            changes[field.name] = values[field.name]
        elif group := group_of(field):
            changed_names = group.names_with_values() & values.keys()
            group_values = {name: values[name] for name in changed_names}
            former = getattr(config, field.name)
            changes[field.name] = dataclasses.replace(former, **group_values)
    return dataclasses.replace(config, **changes)
