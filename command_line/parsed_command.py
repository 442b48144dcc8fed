"""The flags of a command, and who decided their values."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Generic

from options.config import ConfigT_co


@dataclasses.dataclass(frozen=True)
class ParsedCommand(Generic[ConfigT_co]):
    """The flags of a command, and who decided their values.

    The user decides first. What the user left open, other flags and the files
    of the command may decide: `config_values.decide_flags`. All flags that
    nothing decides have their defaults.

    Attributes:
        config: the flags.
        command: {flag that the user set: value as it was typed}.
        arguments: the other arguments: texts, or flags of Apache Beam. Empty
            for a script that accepts none (see `cli.run`).
        script: name of the script, without its folder.
        decided: names of the flags that other flags or files decided.
    """

    config: ConfigT_co
    command: Mapping[str, object] = dataclasses.field(default_factory=dict)
    arguments: Sequence[str] = ()
    script: str = ""
    decided: frozenset[str] = frozenset()

    @property
    def set_by_user(self) -> frozenset[str]:
        """Names of the flags that the user set."""
        return frozenset(self.command)
