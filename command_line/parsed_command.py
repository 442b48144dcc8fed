"""The flags of a command, and who decided their values."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Generic, Self

from options.config import Config, ConfigT_co
from options.config_values import option_values_of, with_groups, with_values
from options.declared_options import options_of
from options.metadata import Role


@dataclasses.dataclass(frozen=True)
class ParsedCommand(Generic[ConfigT_co]):
    """The flags of a command, and who decided their values.

    The user decides first. What the user left open, other flags and the files
    of the command may decide, by the methods below. A command is frozen, so
    each method returns another one. All flags that nothing decides have their
    defaults.

    For example, a script lets the folder of the weights decide, and then the
    rows of the data, if the length is still open:

        parsed = parsed.decide_open({"max_seq_length": 384}, "model.json")
        if parsed.is_open("max_seq_length"):
            options = parsed.config.fine_tuning
            parsed = parsed.decide(
                dataclasses.replace(options, max_seq_length=128),
                "max_seq_length",
            )

    Attributes:
        config: the values of the flags.
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

    def is_open(self, name: str) -> bool:
        """Returns whether nothing has decided a flag yet, so that a file may.

        Raises:
            TypeError: no flag with a role has this name. Files decide no other.
        """
        names = {option.name for option in options_of(self.config, *Role)}
        if name not in names:
            raise TypeError(f"{name} is no flag that files may decide")
        return name not in self.set_by_user | self.decided

    def decide(self, group: object, *names: str) -> Self:
        """Returns the command with flags decided, whatever decided them before.

        Args:
            group: a copy of a group of the Config, with the values of the
                flags. Groups that share a flag get the same value.
            *names: names of all flags that are decided now. A flag may keep
                its value.

        Raises:
            TypeError: the Config contains no such group, no flag has such a
                name, or the group has another value of a flag without a name.
        """
        values = option_values_of(with_groups(self.config, group))
        if unknown := {*names} - values.keys():
            raise TypeError(f"{sorted(unknown)} are no flags of this command")
        unnamed = _find_changes(self.config, values).keys() - {*names}
        if unnamed:
            raise TypeError(f"{sorted(unnamed)} are changed, but not named")
        return self._with_decided({name: values[name] for name in names})

    def decide_open(self, stated: Mapping[str, object], source: str) -> Self:
        """Returns the command with the flags decided that were still open.

        Args:
            stated: {name: value, None if it is unknown}. Names that are no
                flags of this script are ignored.
            source: the file or folder that states the values.

        Raises:
            ValueError: a value is not valid for its flag, even if the flag was
                decided before.
        """
        decided: dict[str, object] = {}
        for option in options_of(self.config, *Role):
            value = stated.get(option.name)
            if value is None:
                continue
            if not option.is_valid(value):
                raise ValueError(
                    f"{source}: `{option.name}` must not be {value!r:.80}"
                )
            if self.is_open(option.name):
                decided[option.name] = value
        return self._with_decided(decided)

    def decide_implied(self) -> Self:
        """Returns the command with the flags decided that other flags imply.

        Raises:
            ValueError: flags contradict each other.
        """
        prepared = self.config.prepare(self.set_by_user)
        implied = _find_changes(self.config, option_values_of(prepared))
        return self._with_decided(implied)

    def _with_decided(self, values: Mapping[str, object]) -> Self:
        """Returns the command with these values, {name of a flag: value}."""
        return dataclasses.replace(
            self,
            config=with_values(self.config, values),
            decided=self.decided.union(values),
        )


def _find_changes(
    former: Config, values: Mapping[str, object]
) -> dict[str, object]:
    """Returns {name of a flag: value} of the values that a Config lacks."""
    former_values = option_values_of(former)
    return {
        name: value
        for name, value in values.items()
        if value != former_values[name]
    }
