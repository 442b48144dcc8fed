"""Answers to command lines of earlier versions.

Imports only the standard library, so that the answer comes at once.
"""

import sys
from pathlib import Path
from typing import NoReturn

# What to run instead of a script that was at the top level.
SCRIPTS = {
    name: f"`python -m tools.{name}`"
    for name in (
        "convert_checkpoint",
        "create_squad_from_triviaqa",
        "create_vocabulary",
        "plot_runs",
    )
} | {
    "run_glue": "`bash examples/recipes/glue.sh`, a loop over run_classifier.py"
    " with a table by `python -m tools.results_table`"
}
# What to use instead of a flag that a script no longer has, by script.
FLAGS: dict[str, dict[str, str]] = {
    "plot_runs": {
        "html": "draw an image with --png or --svg; TensorBoard shows the "
        "values of points"
    }
}


def answer(module: str, file: str) -> NoReturn:
    """Ends a script that has moved, by its `__name__` and its path.

    Raises:
        ImportError: another module imports it.
    """
    script = Path(file).stem
    message = f"{script}.py is now {SCRIPTS[script]}"
    if module != "__main__":
        raise ImportError(message, name=module, path=file)
    sys.exit(f"error: {message}")


def find_flag(command: str, flag: str) -> str | None:
    """Returns what to use instead of a removed flag, None if it is unknown.

    Args:
        command: path of the script, or of its installed command.
        flag: name of the flag, perhaps as --noNAME.
    """
    script = Path(command).stem.removeprefix("bert-").replace("-", "_")
    removed = FLAGS.get(script, {})
    successor = removed.get(flag) or removed.get(flag.removeprefix("no"))
    return successor and f"--{flag} is gone: {successor}"
