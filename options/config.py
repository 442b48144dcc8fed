"""The base class of the options of a script.

These options become flags, so the docstrings here call them flags.
"""

import dataclasses
from typing import Self, TypeVar

from options.metadata import Field, list_repeated_options


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base class of the flags of a script: options, and groups of options.

    A script whose flags decide each other overrides `complete`, and a script
    that runs in several processes `locks_outputs`. command_line/cli.py calls
    both.
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

    def complete(self, set_by_user: frozenset[str]) -> Self:
        """Returns the flags, completed by what other flags imply.

        Runs before the paths are checked and before any file is read.

        Args:
            set_by_user: names of the flags that the user set.

        Raises:
            ValueError: flags contradict each other.
        """
        return self


ConfigT = TypeVar("ConfigT", bound=Config)
# Covariant, so that what takes the command of a Config accepts that of any
# script.
ConfigT_co = TypeVar("ConfigT_co", bound=Config, covariant=True)
