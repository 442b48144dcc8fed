"""Parses the arguments of a script, and ends the script if they are wrong."""

import math
import sys
from collections.abc import Sequence

from absl import flags as absl_flags

from command_line import beam_flags, help_pages
from command_line.user_errors import print_error


def parse_arguments(
    argv: list[str], required: Sequence[str], known_only: bool, purpose: str
) -> list[str]:
    """Parses the command line, and ends the script if it is wrong.

    Returns the name of the script, and the arguments that are not its flags.

    Args:
        argv: the name of the script, and its arguments.
        required: names of the flags that the user must set.
        known_only: whether flags that the script does not define are allowed.
        purpose: docstring of the script, for --help.
    """
    for name in argv:
        if name in ("-h", "-help", "--help", "--helpfull"):
            help_pages.print_help(purpose, name == "--helpfull")
            sys.exit(0)
    try:
        rest = absl_flags.FLAGS(argv, known_only=known_only)
    except absl_flags.UnrecognizedFlagError as error:
        hint = _describe_similar_flags(error.flagname)
        sys.exit(print_error(f"{error}{hint} (--help lists the flags)"))
    except (absl_flags.Error, ValueError) as error:
        sys.exit(print_error(f"{error} (--help lists the flags)"))
    _check_values(required, rest[1:])
    return rest


def _describe_similar_flags(name: str) -> str:
    """Returns a hint for an error message about a flag that does not exist."""
    all_flags = absl_flags.FLAGS
    if "pipeline" in all_flags and beam_flags.is_for_beam(name):
        return "; set --pipeline=beam for the flags of Beam"
    # absl already suggests names with a similar spelling. This function
    # suggests longer names that contain the same words.
    words = {*name.split("_")}
    longer = [
        f"--{other}" for other in all_flags if words < {*other.split("_")}
    ]
    return f"; perhaps {' or '.join(longer)}" if longer else ""


def _check_values(required: Sequence[str], rest: Sequence[str]) -> None:
    """Ends the script if a flag is missing, or is not a finite number.

    `rest` are the arguments that are not flags of the script.
    """
    values = {name: absl_flags.FLAGS[name].value for name in absl_flags.FLAGS}
    missing = [f"--{name}" for name in required if values[name] is None]
    if missing:
        names = ", ".join(missing)
        hint = f"; perhaps {missing[0]}={rest[0]}" if rest else ""
        sys.exit(
            print_error(f"missing required flags: {names}{hint} (see --help)")
        )
    for name, value in values.items():
        # absl accepts NaN, because NaN is not below any bound.
        if isinstance(value, float) and not math.isfinite(value):
            sys.exit(print_error(f"--{name}={value} is not a finite number"))
