"""Reads and changes the values of a script's flags, whatever their group is.

flags.py declares the flags. A Config is frozen, so each function that changes a
value returns another Config.
"""

import dataclasses
from collections.abc import Callable, Mapping

from command_line.declared_flags import flags_of
from command_line.flag_metadata import group_of, is_flag
from command_line.flags import Config, ConfigT, ParsedCommand, ValueT
from command_line.path_flags import PathFlag
from command_line.roles import Role


def create_config(config_class: type[ConfigT], **values: object) -> ConfigT:
    """Creates a Config from the values of flags, whatever group they are in.

    Args:
        config_class: class of the script's flags.
        **values: {name of a flag: value}. Other flags have their defaults.

    Raises:
        TypeError: there is no flag of this name, or a flag that the user must
            set has no value.
    """
    defaults = {flag.name: flag.default for flag in flags_of(config_class)}
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
        if is_flag(field):
            arguments[field.name] = values[field.name]
        elif group := group_of(field):
            group_values = {
                name: values[name] for name in group.names_with_values()
            }
            arguments[field.name] = group.group_class(**group_values)
    return config_class(**arguments)


def required_value(value: ValueT | None) -> ValueT:
    """Returns the value of a required flag, with a type that has no None.

    For example, --vocab_file may be None on the command line, because the
    folder of --init_checkpoint may state it. `check_required` in
    training/config/model_flags.py then fails if neither sets it. The code that
    runs after this check calls a property such as
    `ModelFlags.required_vocab_file`, which calls this function.
    """
    assert value is not None, "`check_required` runs before this"
    return value


def flag_values_of(config: Config) -> dict[str, object]:
    """Returns {name: value} of all flags, whatever group they are in."""
    values = {}
    for field in dataclasses.fields(config):
        flag_or_group = getattr(config, field.name)
        if is_flag(field):
            values[field.name] = flag_or_group
        elif group := group_of(field):
            for inner in group.own_fields():
                values[inner.name] = getattr(flag_or_group, inner.name)
    return values


def replace_values(config: ConfigT, **values: object) -> ConfigT:
    """Returns a copy of a Config with other values of some flags.

    Args:
        config: the flags to copy.
        **values: {name of a flag: value}, whatever group the flag is in.

    Raises:
        TypeError: there is no flag of this name.
    """
    names = {flag.name for flag in flags_of(config)}
    if unknown := values.keys() - names:
        raise TypeError(f"{sorted(unknown)} are no flags of {type(config)}")
    changes: dict[str, object] = {}
    for field in dataclasses.fields(config):
        if is_flag(field) and field.name in values:
            changes[field.name] = values[field.name]
        elif group := group_of(field):
            changed_names = group.names_with_values() & values.keys()
            group_values = {name: values[name] for name in changed_names}
            former = getattr(config, field.name)
            changes[field.name] = dataclasses.replace(former, **group_values)
    return dataclasses.replace(config, **changes)


def convert_paths(
    config: ConfigT, function: Callable[[str], str], *names: str
) -> ConfigT:
    """Returns a copy of a Config in which a function has converted paths.

    Args:
        config: the flags.
        function: function from the value of a flag to the new value.
        *names: names of flags. Flags that are not set stay unset.
    """
    values = flag_values_of(config)
    converted = {
        name: function(str(values[name])) for name in names if values[name]
    }
    return replace_values(config, **converted)


def decide_flags(
    parsed: ParsedCommand[ConfigT], values: Mapping[str, object]
) -> ParsedCommand[ConfigT]:
    """Returns the command with flags decided, whatever decided them before.

    Args:
        parsed: the command.
        values: {name of a flag: value}.

    Raises:
        TypeError: there is no flag of this name.
    """
    return dataclasses.replace(
        parsed,
        config=replace_values(parsed.config, **values),
        decided=parsed.decided | values.keys(),
    )


def decide_open_flags(
    parsed: ParsedCommand[ConfigT], stated: Mapping[str, object], source: str
) -> ParsedCommand[ConfigT]:
    """Returns the command with the flags decided that were still open.

    Args:
        parsed: the command.
        stated: {name: value, None if it is unknown}. Names that are no flags of
            this script are ignored.
        source: the file or folder that states the values.

    Raises:
        ValueError: a value is not valid for its flag, even if the flag was
            decided before.
    """
    open_flags = find_open_flags(parsed)
    values: dict[str, object] = {}
    for flag in flags_of(parsed.config, *Role):
        value = stated.get(flag.name)
        if value is None:
            continue
        if not flag.is_valid(value):
            raise ValueError(
                f"{source}: `{flag.name}` must not be {value!r:.80}"
            )
        if flag.name in open_flags:
            values[flag.name] = value
    return decide_flags(parsed, values)


def find_open_flags(parsed: ParsedCommand[Config]) -> set[str]:
    """Returns the names of the flags that nothing has decided yet.

    These are only flags with a role (roles.py), which files may decide.
    """
    names = {flag.name for flag in flags_of(parsed.config, *Role)}
    return names - parsed.set_by_user - parsed.decided


def list_path_flags(config: Config) -> list[PathFlag]:
    """Returns a PathFlag for each flag whose value is a path."""
    values = flag_values_of(config)
    flags_with_paths = []
    for flag in flags_of(config):
        kind = flag.kind
        value = values[flag.name]
        if kind is not None and value is not None:
            flags_with_paths.append(PathFlag(flag.name, str(value), kind))
    return flags_with_paths
