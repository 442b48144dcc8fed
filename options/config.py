"""Defines `Config`, the base class of the options of a script.

A `Config` is declared with the functions of fields.py. The docstrings here call
its options flags, because command_line/ makes a flag of each.
"""

import collections
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self, TypeVar

from options.declared_options import Option, create_options
from options.fields import Field, Role, group_of, is_option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base class of the flags of a script: options, and groups of options.

    A Config is frozen, so each method that changes a value returns another
    Config. In it, all groups that share a flag have the same value.

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
        counts: collections.Counter[str] = collections.Counter()
        for name, field in cls._declared_fields().items():
            if is_option(field):
                counts[name] += 1
            elif group := group_of(field):
                counts.update(inner.name for inner in group.own_fields())
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
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

    @classmethod
    def list_options(cls, *roles: Role) -> list[Option]:
        """Returns the options of a script, or only those with one of the roles.

        They include the options of all groups.
        """
        # Only a plain `type` is hashable for a type checker.
        config_class: type = cls
        return [
            option
            for option in create_options(config_class)
            if not roles or option.role in roles
        ]

    @classmethod
    def from_values(cls, **values: object) -> Self:
        """Creates a Config from the values of flags of any group.

        For example, `SquadConfig.from_values(output_dir="run", doc_stride=64)`.

        Args:
            **values: {name of a flag: value}. Other flags have their defaults.

        Raises:
            TypeError: there is no flag of this name, or a flag that must be set
                has no value.
        """
        cls._check_names(values)
        defaults = {
            option.name: option.default for option in cls.list_options()
        }
        values = defaults | values
        missing = [
            name
            for name, value in values.items()
            if value is dataclasses.MISSING
        ]
        if missing:
            raise TypeError(f"{missing} have no value")
        arguments = {}
        for field in dataclasses.fields(cls):
            if is_option(field):
                arguments[field.name] = values[field.name]
            elif group := group_of(field):
                group_values = {
                    name: values[name] for name in group.names_with_values()
                }
                arguments[field.name] = group.group_class(**group_values)
        return cls(**arguments)

    @classmethod
    def _check_names(cls, values: Mapping[str, object]) -> None:
        """Raises a TypeError if a name is not the name of a flag."""
        names = {option.name for option in cls.list_options()}
        if unknown := values.keys() - names:
            raise TypeError(f"{sorted(unknown)} are no flags of {cls}")

    def option_values(self, *roles: Role) -> dict[str, object]:
        """Returns {name: value} of all flags, or only those with these roles.

        For example, {"learning_rate": 5e-05, ...} for Role.TRAINING.
        """
        values = {}
        for field in dataclasses.fields(self):
            option_or_group = getattr(self, field.name)
            if is_option(field):
                values[field.name] = option_or_group
            elif group := group_of(field):
                for inner in group.own_fields():
                    values[inner.name] = getattr(option_or_group, inner.name)
        return {
            option.name: values[option.name]
            for option in self.list_options(*roles)
        }

    def with_groups(self, *groups: "DataclassInstance") -> Self:
        """Returns a copy of a Config with the values of other groups.

        All groups that share a flag get its new value. For example, a copy that
        trains:

            config.with_groups(
                dataclasses.replace(config.training, do_train=True)
            )

        Args:
            *groups: copies of groups of this Config, with other values.

        Raises:
            TypeError: the Config contains no such group, or another value is
                not that of a flag.
        """
        values: dict[str, object] = {}
        for group in groups:
            former = self._find_group(type(group))
            for field in dataclasses.fields(former):
                value = getattr(group, field.name)
                if value != getattr(former, field.name):
                    values[field.name] = value
        return self.with_values(values)

    def _find_group(self, group_class: type) -> "DataclassInstance":
        """Returns the group of a class. Raises a TypeError if there is none."""
        for field in dataclasses.fields(self):
            declared = group_of(field)
            if declared and declared.group_class is group_class:
                group: DataclassInstance = getattr(self, field.name)
                return group
        raise TypeError(f"{type(self)} contains no group of {group_class}")

    def with_values(self, values: Mapping[str, object]) -> Self:
        """Returns a copy of a Config with values from a file.

        Code that knows the names calls `with_groups`, which a type checker
        checks.

        Args:
            values: {name of a flag: value}, whatever group the flag is in.

        Raises:
            TypeError: there is no flag of this name.
        """
        self._check_names(values)
        changes: dict[str, object] = {}
        for field in dataclasses.fields(self):
            if is_option(field) and field.name in values:
                changes[field.name] = values[field.name]
            elif group := group_of(field):
                changed_names = group.names_with_values() & values.keys()
                group_values = {name: values[name] for name in changed_names}
                former = getattr(self, field.name)
                changes[field.name] = dataclasses.replace(
                    former, **group_values
                )
        return dataclasses.replace(self, **changes)

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
