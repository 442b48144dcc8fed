"""Makes a flag of each option that a Config declares, with absl."""

import dataclasses
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence

from absl import flags as absl_flags  # noqa: TID251  makes the flags

from imports import installation
from options.config import Config, ConfigT
from options.config_values import create_config
from options.declared_options import Option, options_of
from options.parsed_command import ParsedCommand
from options.path_flags import expand_home

# {type of a value: function of absl that defines a flag with such values}.
_DEFINE_OF_TYPE: dict[type, Callable[..., object]] = {
    str: absl_flags.DEFINE_string,
    bool: absl_flags.DEFINE_boolean,
    int: absl_flags.DEFINE_integer,
    float: absl_flags.DEFINE_float,
}


def script_name() -> str:
    """Returns the name of the script as the user typed it.

    --help lists the flags of the script under this name. The name of an
    installed command has no folder.
    """
    spec = sys.modules["__main__"].__spec__
    # `python -m` sets sys.argv[0] to a path.
    if spec is not None:
        return spec.name.replace(".", "/") + ".py"
    return installation.running_command() or sys.argv[0]


def define_flags(config_class: type[Config], module: str) -> list[str]:
    """Defines a command-line flag for each option of a Config.

    Returns the names of the flags that the user must set.

    Args:
        config_class: class of the script's flags.
        module: name of the module under which --help lists the flags.
    """
    required = []
    for option in options_of(config_class):
        properties = option.properties
        default = option.default
        mark = ""
        if default is dataclasses.MISSING:
            default = None
            mark = "(required) "
            required.append(option.name)
        define: Callable[..., object] = _DEFINE_OF_TYPE.get(
            option.value_type, absl_flags.DEFINE_list
        )
        arguments: dict[str, object] = {"help": mark + option.help}
        if option.choices:
            define = absl_flags.DEFINE_enum
            arguments["enum_values"] = [*option.choices]
            arguments["case_sensitive"] = False
        elif properties.get("is_repeated"):
            define = absl_flags.DEFINE_multi_string
        elif option.value_type in (int, float):
            arguments["lower_bound"] = properties.get("at_least")
            arguments["upper_bound"] = properties.get("at_most")
        define(option.name, default, module_name=module, **arguments)
    return required


def parse_flags(
    config_class: type[ConfigT], arguments: Sequence[str] = ()
) -> ParsedCommand[ConfigT]:
    """Returns the flags of the parsed command line.

    Args:
        config_class: class of the script's flags.
        arguments: the arguments that are not flags of the script.

    Raises:
        ValueError: flags contradict each other.
    """
    values = {
        option.name: _read_value(option) for option in options_of(config_class)
    }
    typed_values = {
        name: absl_flags.FLAGS[name].value
        for name in defined_names()
        if absl_flags.FLAGS[name].present
    }
    return ParsedCommand(
        create_config(config_class, **values),
        typed_values,
        arguments,
        script=os.path.basename(sys.argv[0]),
    )


def _read_value(option: Option) -> object:
    """Returns the value of a flag, a path with the home folder for its `~`."""
    value: object = absl_flags.FLAGS[option.name].value
    if option.path_type is None or value is None:
        return value
    return expand_home(str(value), option.path_type)


def defined_names() -> list[str]:
    """Returns the names of the flags of the script that runs."""
    own = absl_flags.FLAGS.get_key_flags_for_module(script_name())
    return [flag.name for flag in own]


def is_for_beam(name: str) -> bool:
    """Returns whether a name is probably the name of a flag of Beam."""
    return name == "runner" or name.startswith(("dask_", "direct_", "flink_"))


def is_beam_requested(arguments: Iterable[str]) -> bool:
    """Returns whether a command line contains --pipeline=beam."""
    joined = "\0".join(arguments)
    return bool(
        re.search(r"\0--?pipeline[=\0]beam(\0|$)", joined, re.IGNORECASE)
    )
