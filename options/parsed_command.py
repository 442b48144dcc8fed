"""The flags of a command, and who decided their values."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Self

from options.config import ConfigT, ConfigT_co
from options.fields import Role

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclasses.dataclass(frozen=True)
class ParsedCommand(Generic[ConfigT_co]):
    """The flags of a command, and who decided their values.

    The user decides first. What the user left open, other flags and the files
    of the command may decide, by the methods below. A command is frozen, so
    each method returns another one. All flags that nothing decides have their
    defaults.

    Files state values by the names of flags. For example, a script lets the
    folder of the weights decide, and then the rows of the data, if the length
    is still open:

        parsed = parsed.decide_if_open({"max_seq_length": 384}, "model.json")
        if parsed.is_open("max_seq_length"):
            chosen = {"max_seq_length": choose_length(rows)}
            parsed = parsed.decide_if_open(chosen, "rows.csv")

    Code that sets a flag itself, and not for a file, calls `override`.

    Attributes:
        config: the values of the flags.
        typed_values: {flag that the user set: value as it was typed}.
        arguments: the other arguments: texts, or flags of Apache Beam. Empty
            for a script that accepts only flags.
        script: name of the script, without its folder.
        decided: names of the flags that other flags or files decided.
    """

    config: ConfigT_co
    typed_values: Mapping[str, object] = dataclasses.field(default_factory=dict)
    arguments: Sequence[str] = ()
    script: str = ""
    decided: frozenset[str] = frozenset()

    @property
    def set_by_user(self) -> frozenset[str]:
        """Names of the flags that the user set."""
        return frozenset(self.typed_values)

    def is_open(self, name: str) -> bool:
        """Returns whether nothing has decided a flag yet, so that a file may.

        Raises:
            TypeError: no flag with a role has this name. Files decide no other.
        """
        names = {option.name for option in self.config.list_options(*Role)}
        if name not in names:
            raise TypeError(f"{name} is no flag that files may decide")
        return name not in self.set_by_user | self.decided

    def override(self, *groups: "DataclassInstance") -> Self:
        """Returns the command with other values, whatever decided them before.

        For example:

            model = dataclasses.replace(config.model, vocab_file="vocab.txt")
            parsed = parsed.override(model)

        Args:
            *groups: copies of groups of the Config, with other values. A flag
                whose value is the same stays open if it was.

        Raises:
            TypeError: the Config contains no such group.
            ValueError: a value is not valid for its flag.
        """
        changed = self.config.with_groups(*groups)
        return self._with_decided(_select_changes(self.config, changed))

    def decide_if_open(self, stated: Mapping[str, object], source: str) -> Self:
        """Returns the command with the flags decided that were still open.

        A file contains values for all scripts, such as `doc_stride` for
        run_squad.py, and each script takes the values of its own flags. So a
        name that is no flag of this script is no error.

        Args:
            stated: {name: value, None if it is unknown}. Other names than those
                of this script's flags are ignored.
            source: the file or folder that contains the values.

        Raises:
            ValueError: a value is not valid for its flag, even if the flag was
                decided before.
        """
        decided: dict[str, object] = {}
        for option in self.config.list_options(*Role):
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

    def apply_implied_flags(self) -> Self:
        """Returns the command with the flags decided that other flags imply.

        What the user set stays, whatever it contradicts.
        """
        implied = self.config.with_implied_flags()
        changes = _select_changes(self.config, implied)
        return self._with_decided(
            {
                name: value
                for name, value in changes.items()
                if name not in self.set_by_user
            }
        )

    def _with_decided(self, values: Mapping[str, object]) -> Self:
        """Returns the command with {name of a flag: value} decided.

        A flag may keep its value. Then nothing else decides it later.
        """
        config = self.config.with_values(values)
        for option in config.list_options():
            value = values.get(option.name)
            if value is not None and not option.is_valid(value):
                raise ValueError(f"--{option.name} must not be {value!r:.80}")
        return dataclasses.replace(
            self, config=config, decided=self.decided.union(values)
        )


def _select_changes(former: ConfigT, changed: ConfigT) -> dict[str, object]:
    """Returns {name of a flag: value} of the values that a Config lacks."""
    former_values = former.option_values()
    return {
        name: value
        for name, value in changed.option_values().items()
        if value != former_values[name]
    }
