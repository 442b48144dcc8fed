"""Tells users of earlier versions which script or flag to use now.

This module imports only the standard library, so that it starts fast.
"""

import sys
from pathlib import Path
from typing import NoReturn

# {former script at the top level: command to run instead}.
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
# {script: {removed flag: advice on what to use instead}}.
FLAGS: dict[str, dict[str, str]] = {
    "plot_runs": {
        "html": "draw an image with --png or --svg. TensorBoard shows the "
        "values of points"
    }
}


def answer(module: str, file: str) -> NoReturn:
    """Ends a moved script with an error that names the new command.

    Args:
        module: `__name__` of the script.
        file: path of the script.

    Raises:
        ImportError: another module imports the script.
    """
    script = Path(file).stem
    message = f"{script}.py is now {SCRIPTS[script]}"
    if module != "__main__":
        raise ImportError(message, name=module, path=file)
    sys.exit(f"error: {message}")


def find_flag(command: str, flag: str) -> str | None:
    """Returns a message about a removed flag, or None for an unknown flag.

    Args:
        command: path of the script, or of its installed command.
        flag: name of the flag, perhaps with the prefix "no".
    """
    script = Path(command).stem.removeprefix("bert-").replace("-", "_")
    removed = FLAGS.get(script, {})
    successor = removed.get(flag) or removed.get(flag.removeprefix("no"))
    return successor and f"--{flag} was removed: {successor}"
