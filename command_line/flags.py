"""The flags of a script: absl defines them, parses them and reads their values.

`define_flags` makes a flag of each option that a Config declares.
`parse_arguments` parses the command line, or prints --help or --helpfull.
`create_parsed_command` makes a Config of the values.
"""

import dataclasses
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence

from absl import flags as absl_flags  # noqa: TID251  defines and parses flags

from command_line import user_errors
from command_line.help_pages import print_help
from dependencies import installation
from options import fields
from options.config import Config, ConfigT
from options.declared_options import Option
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
    for option in config_class.list_options():
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommonConfig(Config):
    """Flags that every script has."""

    debug: bool = fields.option(
        False, "Print the traceback of any error, and TensorFlow's logs."
    )
    verbose: bool = fields.option(
        False,
        "Also log the first examples, and every variable that is loaded.",
    )


def parse_arguments(
    argv: list[str], required: Sequence[str], is_on_beam: bool, purpose: str
) -> list[str]:
    """Parses the command line, and ends the script if it is wrong.

    Returns the name of the script, and the arguments that are not its flags.

    Args:
        argv: the name of the script, and its arguments.
        required: names of the flags that the user must set.
        is_on_beam: whether to allow flags that the script does not define,
            because they are flags of Beam.
        purpose: docstring of the script, for --help.
    """
    for name in argv:
        if name in ("-h", "-help", "--help", "--helpfull"):
            print_help(purpose, script_name(), is_full=name == "--helpfull")
            sys.exit(0)
    try:
        remaining = _parse_flags(argv, is_on_beam)
        _check_values(required, remaining[1:])
    except ValueError as error:
        sys.exit(user_errors.print_error(error))
    return remaining


def _parse_flags(argv: list[str], is_on_beam: bool) -> list[str]:
    """Parses the command line. Returns the arguments that no flag read.

    Raises a ValueError if a flag does not exist or has a wrong value.
    """
    try:
        return absl_flags.FLAGS(argv, known_only=is_on_beam)
    except absl_flags.UnrecognizedFlagError as error:
        hint = _describe_similar_flags(error.flagname)
        raise ValueError(f"{error}{hint} (--help lists the flags)") from error
    except (absl_flags.Error, ValueError) as error:
        raise ValueError(f"{error} (--help lists the flags)") from error


def _describe_similar_flags(name: str) -> str:
    """Returns a hint for an error message about a flag that does not exist."""
    all_flags = absl_flags.FLAGS
    if "pipeline" in all_flags and is_for_beam(name):
        return "; set --pipeline=beam for the flags of Beam"
    # absl already suggests names with a similar spelling. This function
    # suggests longer names that contain the same words.
    words = {*name.split("_")}
    longer = [
        f"--{other}" for other in all_flags if words < {*other.split("_")}
    ]
    return f"; perhaps {' or '.join(longer)}" if longer else ""


def _check_values(required: Sequence[str], arguments: Sequence[str]) -> None:
    """Checks that no flag is missing, and that all numbers are finite.

    `arguments` are those that are not flags of the script. Raises a ValueError
    if a value is wrong.
    """
    values = {name: absl_flags.FLAGS[name].value for name in absl_flags.FLAGS}
    missing = [f"--{name}" for name in required if values[name] is None]
    if missing:
        names = ", ".join(missing)
        hint = f"; perhaps {missing[0]}={arguments[0]}" if arguments else ""
        raise ValueError(f"missing required flags: {names}{hint} (see --help)")
    for name, value in values.items():
        # absl accepts NaN, because NaN is not below any bound.
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"--{name}={value} is not a finite number")


def create_parsed_command(
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
        option.name: _read_value(option)
        for option in config_class.list_options()
    }
    typed_values = {
        name: absl_flags.FLAGS[name].value
        for name in defined_names()
        if absl_flags.FLAGS[name].present
    }
    return ParsedCommand(
        config_class.from_values(**values),
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


def is_for_beam(name: str) -> bool:
    """Returns whether a name is probably the name of a flag of Beam."""
    return name == "runner" or name.startswith(("dask_", "direct_", "flink_"))


def is_beam_requested(arguments: Iterable[str]) -> bool:
    """Returns whether a command line contains --pipeline=beam."""
    joined = "\0".join(arguments)
    return bool(
        re.search(r"\0--?pipeline[=\0]beam(\0|$)", joined, re.IGNORECASE)
    )
