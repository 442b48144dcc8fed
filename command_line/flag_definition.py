"""Makes a flag of each option that a Config declares, with absl."""

import dataclasses
import sys
from collections.abc import Callable

from absl import flags as absl_flags  # noqa: TID251  makes the flags

from imports import installation
from options.config import Config
from options.declared_options import options_of

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


def defined_names() -> list[str]:
    """Returns the names of the flags of the script that runs."""
    own = absl_flags.FLAGS.get_key_flags_for_module(script_name())
    return [flag.name for flag in own]


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
