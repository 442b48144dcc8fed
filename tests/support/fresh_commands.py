"""Runs scripts, each in a process that has imported nothing of the project.

A program, whose argument is a list of commands in JSON. It imports absl once,
and forks itself for each command:

    python -m tests.support.fresh_commands '[["predict", "--help"]]'

After what a script prints, the program prints the script's exit status, which
of TensorFlow and Keras the script has imported, and a form feed.
"""

import json
import os
import runpy
import sys
from collections.abc import Sequence

# Import it once, because all scripts import it.
import absl.app  # noqa: F401


def main(commands: Sequence[list[str]]) -> None:
    """Runs each command, [module of a script, *arguments], to its end."""
    for command in commands:
        if not os.fork():
            _run(command)
            os._exit(0)
        os.wait()


def _run(command: list[str]) -> None:
    """Runs a command in this process, and prints how it ended."""
    sys.argv = command
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        loaded = {"tensorflow", "keras"} & {*sys.modules}
        print(ended.code, sorted(loaded), end="\f", flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
