"""The base class of the options of a script.

These options become flags, so the docstrings here call them flags.
"""

import dataclasses
from typing import Self, TypeVar

from options.metadata import Field, list_repeated_options


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base class of the flags of a script: options, and groups of options.

    A script whose flags imply others overrides `with_implied_flags`. If some
    flags contradict each other, it overrides `check_early`, and if it runs in
    several processes, `locks_outputs`. command_line/cli.py calls these methods
    before it checks the paths and before any file is read.
    """

    def __init_subclass__(cls) -> None:
        """Checks that no flag is defined twice.

        Raises:
            TypeError: two groups contain a flag of the same name, and neither
                group names it in `shared`.
        """
        if twice := list_repeated_options(cls._declared_fields()):
            raise TypeError(
                f"{cls.__qualname__}: {twice} are flags of several groups; "
                "name them in `shared` of all groups but one"
            )

    @classmethod
    def _declared_fields(cls) -> dict[str, Field]:
        """Returns {name: field} of a class that is no dataclass yet.

        `__init_subclass__` runs before the decorator `dataclass` does, so the
        decorator has not collected the fields of this class yet.
        """
        fields: dict[str, Field] = {}
        for parent in reversed(cls.__mro__[1:]):
            fields |= getattr(parent, "__dataclass_fields__", {})
        for name, value in vars(cls).items():
            if isinstance(value, dataclasses.Field):
                fields[name] = value
        return fields

    @property
    def locks_outputs(self) -> bool:
        """Whether this process locks the outputs that the flags name.

        Of several processes that share their outputs, only one locks them.
        """
        return True

    def with_implied_flags(self) -> Self:
        """Returns a copy with the flags that other flags imply.

        The copy may also change a flag that the user set. The caller ignores
        such a change, because `ParsedCommand.apply_implied_flags` keeps
        what the user set.
        """
        return self

    def check_early(self) -> None:
        """Checks the flags, as the user set them and other flags imply them.

        Raises:
            ValueError: flags contradict each other.
        """


ConfigT = TypeVar("ConfigT", bound=Config)
# Covariant, so that what takes the command of a Config accepts that of any
# script.
ConfigT_co = TypeVar("ConfigT_co", bound=Config, covariant=True)
