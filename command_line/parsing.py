"""Makes a command line of the flags that a Config declares, with absl."""

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

from absl import flags

from command_line.config_values import create as create_config
from command_line.flags import Config, ConfigT, Parsed, flags_of
from command_line.path_flags import expand_home

_DEFINE: dict[type, Callable[..., object]] = {
    str: flags.DEFINE_string,
    bool: flags.DEFINE_boolean,
    int: flags.DEFINE_integer,
    float: flags.DEFINE_float,
}


def define(config: type[Config], module: str) -> list[str]:
    """Defines a command-line flag for each flag of a Config.

    Returns the names of the flags that the user must set.

    Args:
        config: class of the script's flags.
        module: name of the module under which --help lists the flags.
    """
    required = []
    for each in flags_of(config):
        default = each.default
        mark = ""
        if default is dataclasses.MISSING:
            default = None
            mark = "(required) "
            required.append(each.name)
        create: Callable[..., object] = _DEFINE.get(
            each.type, flags.DEFINE_list
        )
        options: dict[str, object] = {"help": mark + each.meta.help}
        if each.meta.choices:
            create = flags.DEFINE_enum
            options["enum_values"] = [*each.meta.choices]
            options["case_sensitive"] = False
        elif each.meta.is_repeated:
            create = flags.DEFINE_multi_string
        elif each.type in (int, float):
            options["lower_bound"] = each.meta.at_least
            options["upper_bound"] = each.meta.at_most
        create(each.name, default, module_name=module, **options)
    return required


def parse(config: type[ConfigT]) -> Parsed[ConfigT]:
    """Returns the flags of the parsed command line.

    Raises:
        ValueError: flags contradict each other.
    """
    values: dict[str, Any] = {
        each.name: flags.FLAGS[each.name].value for each in flags_of(config)
    }
    command = {
        name: flags.FLAGS[name].value
        for name in defined_names()
        if flags.FLAGS[name].present
    }
    for each in flags_of(config):
        value = values[each.name]
        if each.meta.kind is not None and value is not None:
            values[each.name] = expand_home(value, each.meta.kind)
    return Parsed(create_config(config, **values), command)


def defined_names() -> list[str]:
    """Returns the names of the flags of the script that runs."""
    own = flags.FLAGS.get_key_flags_for_module(sys.argv[0])
    return [each.name for each in own]
