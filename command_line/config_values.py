"""Reads and changes the values of a script's flags, whatever their group is.

flags.py declares the flags. A Config is frozen, so each function that changes a
value returns another Config, or another command. In it, all groups that share a
flag have the same value, and the command knows who decided it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec

from command_line.declared_flags import flags_of
from command_line.flag_metadata import Role, group_of, is_flag
from command_line.flags import Config, ConfigT, ParsedCommand, ValueT
from command_line.path_flags import PathFlag

# The arguments of a class of flags, which are the flags that it declares.
FlagsOfOwner = ParamSpec("FlagsOfOwner")


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


def replace_flags(
    config: ConfigT,
    owner: Callable[FlagsOfOwner, object],
    *_: FlagsOfOwner.args,
    **values: FlagsOfOwner.kwargs,
) -> ConfigT:
    """Returns a copy of a Config with other values of some flags.

    For example, `replace_flags(config, TrainingFlags, do_train=True)`. A type
    checker compares the names and the values with the fields of the class, as
    in `TrainingFlags(do_train=True)`. Other groups that share a flag get the
    same value.

    Args:
        config: the flags to copy.
        owner: the class that declares the flags: a group of the Config, or the
            class of the Config.
        **values: {name of a flag: value}.

    Raises:
        TypeError: the Config contains no such group, or no flag of this name.
    """
    return _replace_values(config, owner, values)


def replace_unset_flags(
    config: ConfigT,
    set_by_user: frozenset[str],
    owner: Callable[FlagsOfOwner, object],
    *_: FlagsOfOwner.args,
    **values: FlagsOfOwner.kwargs,
) -> ConfigT:
    """Returns a copy as `replace_flags` does, but keeps what the user set.

    Args:
        config: the flags to copy.
        set_by_user: names of the flags that the user set.
        owner: as for `replace_flags`.
        **values: {name of a flag: value}.

    Raises:
        TypeError: as in `replace_flags`.
    """
    unset = {
        name: value for name, value in values.items() if name not in set_by_user
    }
    return _replace_values(config, owner, unset)


def decide_flags(
    parsed: ParsedCommand[ConfigT],
    owner: Callable[FlagsOfOwner, object],
    *_: FlagsOfOwner.args,
    **values: FlagsOfOwner.kwargs,
) -> ParsedCommand[ConfigT]:
    """Returns the command with flags decided, whatever decided them before.

    For example, `decide_flags(parsed, ColumnOptions, text_column="review")`.

    Args:
        parsed: the command.
        owner: as for `replace_flags`.
        **values: {name of a flag: value}.

    Raises:
        TypeError: as in `replace_flags`.
    """
    config = _replace_values(parsed.config, owner, values)
    return _with_decided(parsed, config, values)


def decide_implied_flags(
    parsed: ParsedCommand[ConfigT],
) -> ParsedCommand[ConfigT]:
    """Returns the command with the flags decided that other flags imply.

    Raises:
        ValueError: flags contradict each other.
    """
    prepared = parsed.config.prepare(parsed.set_by_user)
    former_values = flag_values_of(parsed.config)
    implied = {
        name: value
        for name, value in flag_values_of(prepared).items()
        if value != former_values[name]
    }
    config = _copy_with_values(parsed.config, implied)
    return _with_decided(parsed, config, implied)


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
    values: dict[str, object] = {}
    for flag in flags_of(parsed.config, *Role):
        value = stated.get(flag.name)
        if value is None:
            continue
        if not flag.is_valid(value):
            raise ValueError(
                f"{source}: `{flag.name}` must not be {value!r:.80}"
            )
        if is_open(parsed, flag.name):
            values[flag.name] = value
    config = _copy_with_values(parsed.config, values)
    return _with_decided(parsed, config, values)


def is_open(parsed: ParsedCommand[Config], name: str) -> bool:
    """Returns whether nothing has decided a flag yet, so that a file may.

    Raises:
        TypeError: no flag with a role has this name. Files decide no other.
    """
    names = {flag.name for flag in flags_of(parsed.config, *Role)}
    if name not in names:
        raise TypeError(f"{name} is no flag that files may decide")
    return name not in parsed.set_by_user | parsed.decided


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


def _with_decided(
    parsed: ParsedCommand[ConfigT], config: ConfigT, names: Iterable[str]
) -> ParsedCommand[ConfigT]:
    """Returns the command with a changed Config, and who decided the flags.

    Args:
        parsed: the command.
        config: the flags, some of them with other values.
        names: names of the flags that are now decided.
    """
    decided = parsed.decided.union(names)
    return dataclasses.replace(parsed, config=config, decided=decided)


def _replace_values(
    config: ConfigT, owner: object, values: Mapping[str, object]
) -> ConfigT:
    """Returns a copy of a Config with other values of the flags of `owner`."""
    groups = filter(None, map(group_of, dataclasses.fields(config)))
    classes = [type(config), *(group.group_class for group in groups)]
    if not any(owner in flag_class.__mro__ for flag_class in classes):
        raise TypeError(f"{type(config)} contains no flags of {owner}")
    return _copy_with_values(config, values)


def _copy_with_values(config: ConfigT, values: Mapping[str, object]) -> ConfigT:
    """Returns a copy of a Config in which all groups have the new values.

    Args:
        config: the flags to copy.
        values: {name of a flag: value}, whatever group the flag is in.

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
