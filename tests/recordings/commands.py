"""All commands to record, by name."""

import fnmatch

from tests.recordings.command import Command
from tests.recordings.model_commands import ASKING, USING
from tests.recordings.training_commands import (
    MAKING,
    RESUMING,
    STOPPING,
    TRAINING,
)

HELP = (
    "create_pretraining_data.py",
    "extract_features.py",
    "predict.py",
    "run_classifier.py",
    "run_ner.py",
    "run_pretraining.py",
    "run_squad.py",
    "run_swag.py",
    "serve.py",
    "-m tools.convert_checkpoint",
    "-m tools.create_vocabulary",
    "-m tools.export",
    "-m tools.plot_runs",
    "-m tools.results_table",
)
HELPING = [
    Command(
        f"{option}.{script.removeprefix('-m ').removesuffix('.py')}",
        f"{script} --{option}",
        prints=True,
    )
    for script in HELP
    for option in ("help", "helpfull")
]
COMMANDS = {
    command.name: command
    for command in [
        *HELPING,
        *MAKING,
        *TRAINING,
        *STOPPING,
        *USING,
        *ASKING,
        *RESUMING,
    ]
}


def select(only: str = "") -> dict[str, Command]:
    """Returns {name: command} of names and patterns, separated by commas.

    Raises:
        ValueError: a pattern matches no command.
    """
    names: set[str] = set()
    for pattern in filter(None, only.split(",")):
        matches = fnmatch.filter(COMMANDS, pattern)
        if not matches:
            raise ValueError(
                f"--only={pattern} matches no command; the commands are "
                f"{', '.join(COMMANDS)}"
            )
        names |= {*matches}
    return {k: v for k, v in COMMANDS.items() if k in names or not only}
