"""The flags that the fields of a Config and of its groups declare."""

import dataclasses
from typing import Literal

import pytest

from options import fields
from options.config import Config
from options.fields import PathType, Role, group, option_changes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Training:
    """A group of flags, and a field that is no flag."""

    steps: int = fields.training_option(
        10, "Number of steps.", at_least=1, at_most=99
    )
    rate: float = fields.training_option(0.5, "Learning rate.", at_least=0)
    folder: str = fields.neutral_option(
        ..., "Folder.", path_type=PathType.OUTPUT_FILE
    )
    patience: int = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(Config):
    """The flags of a script."""

    training: Training = group(
        Training, steps=option_changes(default=5, help="Steps.", at_most=7)
    )
    name: str | None = fields.option(None, "Name.")
    kind: Literal["int8", "int4"] | None = fields.head_option(
        None, "Kind.", choices=("int8", "int4")
    )
    labels: list[str] | None = fields.head_option(None, "Labels.")
    verbose: bool = fields.neutral_option(False, "Log more.")


def flag_of(name, config=Config):
    """Returns the flag of this name."""
    (flag,) = (flag for flag in config.list_options() if flag.name == name)
    return flag


def test_a_script_has_the_flags_of_its_groups_and_its_own():
    names = [flag.name for flag in Config.list_options()]
    assert names == [
        "steps",
        "rate",
        "folder",
        "name",
        "kind",
        "labels",
        "verbose",
    ]


def test_an_object_has_the_flags_of_its_class():
    config = Config(training=Training(folder="out"))
    assert config.list_options() == Config.list_options()


def test_flags_are_found_by_their_role():
    roles = Role.HEAD, Role.NEUTRAL
    names = [flag.name for flag in Config.list_options(*roles)]
    assert names == ["folder", "kind", "labels", "verbose"]


def test_a_flag_has_what_its_field_declares():
    flag = flag_of("rate")
    assert flag.value_type is float
    assert flag.default == 0.5
    assert flag.help == "Learning rate."
    assert flag.role == Role.TRAINING
    assert flag.properties == {"at_least": 0}


def test_a_script_changes_a_flag_of_a_group():
    flag = flag_of("steps")
    assert flag.default == 5
    assert flag.help == "Steps."
    assert flag.properties == {"at_least": 1, "at_most": 7}


def test_a_flag_that_may_be_none_has_the_type_of_its_values():
    assert flag_of("name").value_type is str


def test_a_flag_without_a_default_must_be_set():
    assert flag_of("folder").default is dataclasses.MISSING


def test_the_flag_of_a_path_has_a_type():
    assert flag_of("folder").path_type is PathType.OUTPUT_FILE
    assert flag_of("name").path_type is None


def test_the_choices_of_a_flag_may_be_its_type():
    flag = flag_of("kind")
    assert flag.value_type is str
    assert flag.choices == ("int8", "int4")


@pytest.mark.parametrize(
    ("name", "value", "is_valid"),
    [
        ("kind", "int4", True),
        ("kind", "int2", False),
        ("name", "a", True),
        ("name", 5, False),
        ("verbose", False, True),
        ("verbose", 0, False),
        ("steps", 1, True),
        ("steps", 7, True),
        ("steps", 0, False),
        ("steps", 8, False),
        ("steps", 2.0, False),
        ("steps", True, False),
        ("rate", 2, True),
        ("rate", -0.5, False),
        ("rate", "0.5", False),
        ("labels", ["a", "b"], True),
        ("labels", ("a",), True),
        ("labels", "a", False),
        ("labels", ["a", 5], False),
    ],
)
def test_a_value_of_a_file_is_checked(name, value, is_valid):
    assert flag_of(name).is_valid(value) is is_valid
