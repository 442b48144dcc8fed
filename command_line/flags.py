"""Defines command-line flags as fields of a frozen dataclass.

The class defines the default, the check and the help of each flag:

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Config:
        seed: int = flag(12345, "Seed of all random draws.", at_least=0)

`define(Config, module)` defines the flags, and `parse(Config)` returns a Config
with their values. A field without a default is a flag that the user must set.
The flags of a script are a subclass of this module's `Config`.
"""

import dataclasses
import enum
import functools
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from absl import flags

from files import paths

_FLAG = "flag"
_DEFINE: dict[type, Callable[..., Any]] = {
    str: flags.DEFINE_string,
    bool: flags.DEFINE_boolean,
    int: flags.DEFINE_integer,
    float: flags.DEFINE_float,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Base class of the flags of a script. `cli.run` calls its methods.

    Attributes:
        given_flags: {name: value} of the flags that the user set.
    """

    given_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
    )

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the outputs that the flags name."""
        return True

    def prepare(self) -> Self:
        """Returns the flags, completed by what other flags imply.

        Runs before the paths are checked and before any file is read.

        Raises:
            ValueError: flags contradict each other.
        """
        return self

    def download(self) -> Self:
        """Returns the flags with local folders for models of a hub.

        Runs after the paths are checked.

        Raises:
            ValueError, OSError: as `modeling.hub.download` raises them.
        """
        return self


Flags = TypeVar("Flags", bound=Config)


class Role(enum.Enum):
    """Rule that a trained model imposes on the value of a flag.

    A model's folder records the flags of the model's training.

    IDENTITY: describes the network, or how text is tokenized. The default is
        the recorded value. Any other value is an error.
    HEAD: describes the head for a task. The default is the recorded value if a
        command uses the head without training it. A resumed run must not change
        the value.
    TRAINING: describes the training. The recorded value is never the default. A
        resumed run must not change the value.
    DECODING: describes how the model's outputs become answers. The default is
        chosen as for HEAD. A resumed run may change the value.
    NEUTRAL: changes no weight, and changes predictions only by rounding errors.
    """

    IDENTITY = "identity"
    HEAD = "head"
    TRAINING = "training"
    DECODING = "decoding"
    NEUTRAL = "neutral"


@dataclasses.dataclass(frozen=True)
class Meta:
    """Properties of a flag besides its name, its type and its default.

    Attributes:
        help: help text of the flag.
        role: the Role, which the functions `identity`, `head`, `training`,
            `decoding` and `neutral` set.
        kind: the paths.Kind, if the value is a path.
        at_least, at_most: the bounds of a number.
        choices: the valid values of a string.
        is_repeated: True if the value is a list and the user repeats the flag
            for each element. Otherwise commas separate the elements.
        may_grow: True if a resumed training may set a larger value.
    """

    help: str
    role: Role | None = None
    kind: paths.Kind | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: Sequence[str] | None = None
    is_repeated: bool = False
    may_grow: bool = False


def flag(default: object, help: str, **changes: Any) -> Any:  # noqa: ANN401  a field stands for a value of any type
    """Returns a dataclass field that is also a command-line flag.

    Args:
        default: default of the field and the flag. `...` = there is no default,
            so the user must set the flag.
        help: help text of the flag.
        **changes: other attributes of `Meta`.
    """
    if default is ...:
        default = dataclasses.MISSING
    meta = {_FLAG: Meta(help, **changes)}
    return dataclasses.field(default=default, metadata=meta)


identity = functools.partial(flag, role=Role.IDENTITY)
head = functools.partial(flag, role=Role.HEAD)
training = functools.partial(flag, role=Role.TRAINING)
decoding = functools.partial(flag, role=Role.DECODING)
neutral = functools.partial(flag, role=Role.NEUTRAL)


def like(base: type, name: str, default: object = None, **changes: Any) -> Any:  # noqa: ANN401  a field stands for a value of any type
    """Returns a copy of a flag of another dataclass, with changes.

    Args:
        base: dataclass that defines the flag.
        name: name of the field in `base`.
        default: new default, as in `flag`. None = the default of `base`.
        **changes: attributes of `Meta` that differ, such as `help`.
    """
    (field,) = (x for x in dataclasses.fields(base) if x.name == name)
    if default is None:
        default = field.default
    attributes = vars(meta_of(field)) | changes
    return flag(default, **attributes)


def define(config: type[Config], module: str) -> list[str]:
    """Defines a command-line flag for each field of a dataclass.

    Returns the names of the flags that the user must set.

    Args:
        config: dataclass whose fields were created with `flag`. Other fields
            are ignored.
        module: name of the module under which --help lists the flags.
    """
    hints = typing.get_type_hints(config)
    required = []
    for field in _flag_fields(config):
        meta = meta_of(field)
        default = field.default
        kind = hints[field.name]
        if isinstance(kind, types.UnionType):
            # `int | None` is a flag of type int.
            kind = kind.__args__[0]
        mark = ""
        if default is dataclasses.MISSING:
            default = None
            mark = "(required) "
            required.append(field.name)
        create: Any = _DEFINE.get(kind, flags.DEFINE_list)
        options: dict[str, Any] = {"help": mark + meta.help}
        if meta.choices:
            create = flags.DEFINE_enum
            options["enum_values"] = [*meta.choices]
            options["case_sensitive"] = False
        elif meta.is_repeated:
            create = flags.DEFINE_multi_string
        elif kind in (int, float):
            options["lower_bound"] = meta.at_least
            options["upper_bound"] = meta.at_most
        create(field.name, default, module_name=module, **options)
    return required


def parse(config: type[Flags]) -> Flags:
    """Creates an instance of a script's flags from the parsed command line.

    Raises:
        ValueError: flags contradict each other.
    """
    values: dict[str, Any] = {
        field.name: flags.FLAGS[field.name].value
        for field in _flag_fields(config)
    }
    own = flags.FLAGS.get_key_flags_for_module(sys.argv[0])
    given = {each.name: each.value for each in own if each.present}
    return config(given_flags=given, **values)


def fields(
    config: Config | type[Config], *roles: Role
) -> list[dataclasses.Field]:
    """Returns the fields of a dataclass whose flags have one of the roles."""
    return [f for f in _flag_fields(config) if meta_of(f).role in roles]


def unset(config: Config) -> set[str]:
    """Returns names of flags that no user set and that have their defaults."""
    values = vars(config)
    defaults = {
        field.name
        for field in fields(config, *Role)
        if values[field.name] == field.default
    }
    return defaults - config.given_flags.keys()


def meta_of(field: dataclasses.Field) -> Meta:
    """Returns the properties of the flag that a field defines."""
    return field.metadata[_FLAG]


def path_flags(config: Config) -> list[paths.PathFlag]:
    """Returns a paths.PathFlag for each flag whose value is a path."""
    flags_of_paths = []
    for field in _flag_fields(config):
        kind = meta_of(field).kind
        value = vars(config)[field.name]
        if kind is not None and value is not None:
            flags_of_paths.append(paths.PathFlag(field.name, value, kind))
    return flags_of_paths


def _flag_fields(
    config: Config | type[Config],
) -> Iterator[dataclasses.Field]:
    return (f for f in dataclasses.fields(config) if _FLAG in f.metadata)
