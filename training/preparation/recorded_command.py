"""Records the command of a run, for model.json.

This module imports no TensorFlow.
"""

import os

from command_line import config_values, flags
from command_line.declared_flags import flags_of
from command_line.roles import Role
from model_folders.reading import hub

# Flags that name machines or accounts, which model.json must not contain.
_ADDRESS_FLAGS = frozenset({"gcp_project", "master", "tpu_name", "tpu_zone"})


def select_recorded_flags(
    parsed: flags.ParsedCommand[flags.Config],
) -> dict[str, object]:
    """Returns {flag that the user set: value}, without folders in paths.

    A model of the hub keeps its name, and gets the commit that was downloaded.
    """
    command = {
        name: value
        for name, value in parsed.command.items()
        if name not in _ADDRESS_FLAGS
    }
    values = config_values.flag_values_of(parsed.config)
    for flag in flags_of(parsed.config, *Role):
        if flag.kind is None or flag.name not in command:
            continue
        source = hub.hub_path_of(str(values[flag.name] or ""))
        paths = str(command[flag.name]).split(",")
        names = [os.path.basename(path.rstrip("/")) for path in paths]
        command[flag.name] = source or ",".join(names)
    return command
