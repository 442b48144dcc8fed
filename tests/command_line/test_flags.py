"""Flags of a script, in groups that the command line does not show."""

import dataclasses
import sys
from typing import Literal

import pytest
from absl import flags as absl_flags

import run_classifier
from command_line import config_values, flags, parsing
from command_line.declared_flags import flags_of
from command_line.flags import group, like


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loop:
    steps: int = flags.training(10, "Number of steps.", at_least=1)
    length: int = flags.head(128, "Length.")
    folder: str = flags.neutral(..., "Folder.")
    patience: int = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Windows:
    length: int = flags.head(384, "Length of a window.")
    stride: int = flags.head(64, "Stride.")
    patience: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    loop: Loop = group(Loop, steps=like(default=5), shared=("length",))
    windows: Windows = group(Windows, without=("stride",))
    name: str | None = flags.flag(None, "Name.")


def test_a_flag_may_have_another_default_in_a_script():
    defaults = {flag.name: flag.default for flag in flags_of(Config)}
    required = dataclasses.MISSING
    assert defaults == {
        "steps": 5,
        "folder": required,
        "length": 384,
        "name": None,
    }


def test_the_choices_of_a_flag_may_be_its_type():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Config(flags.Config):
        kind: Literal["int8"] | None = flags.flag(
            None, "Kind.", choices=("int8",)
        )

    (flag,) = flags_of(Config)
    assert flag.type is str
    assert flag.is_valid("int8") and not flag.is_valid("int4")


def test_flags_are_found_by_their_role():
    names = [flag.name for flag in flags_of(Config, flags.Role.HEAD)]
    assert names == ["length"]


def test_two_groups_share_the_value_of_a_flag():
    config = config_values.create_config(Config, folder="x", length=9)
    assert config.loop.length == config.windows.length == 9
    changed = config_values.replace(config, length=8, steps=7)
    assert changed.loop.length == changed.windows.length == 8
    assert (changed.loop.steps, changed.windows.stride) == (7, 64)
    assert config_values.values_of(changed) == {
        "folder": "x",
        "length": 8,
        "name": None,
        "steps": 7,
    }


def test_only_what_is_unset_is_filled():
    config = config_values.create_config(Config, folder="x", length=9)
    stated = {"steps": 3, "length": 4, "stride": 2, "folder": None}
    filled = config_values.fill(config, frozenset(), stated, "x")
    assert (filled.loop.steps, filled.loop.length) == (3, 9)
    assert filled.windows.stride == 64
    kept = config_values.fill(config, frozenset({"steps"}), stated, "x")
    assert kept.loop.steps == 5


@pytest.mark.parametrize("name", ["stride", "patience", "loop"])
def test_what_is_no_flag_has_no_value(name):
    values = {"folder": "x", name: 1}
    with pytest.raises(TypeError, match=name):
        config_values.create_config(Config, **values)


def test_a_required_flag_needs_a_value():
    with pytest.raises(TypeError, match="folder"):
        config_values.create_config(Config)


def test_a_flag_is_defined_once():
    with pytest.raises(TypeError, match="length"):

        class Twice(flags.Config):
            loop: Loop = group(Loop)
            windows: Windows = group(Windows)


def test_a_script_may_change_a_group_of_its_base_class():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Other(Config):
        loop: Loop = group(
            Loop, steps=like(default=2, help="Steps."), shared=("length",)
        )

    (steps,) = (flag for flag in flags_of(Other) if flag.name == "steps")
    assert steps.default == 2
    assert steps.help == "Steps."
    assert steps.properties["at_least"] == 1


def test_what_the_user_set_is_no_part_of_the_flags(monkeypatch):
    values = absl_flags.FlagValues()
    monkeypatch.setattr(absl_flags, "FLAGS", values)
    for flag in flags_of(Config):
        define = absl_flags.DEFINE_string
        default = flag.default
        if flag.type is int:
            define = absl_flags.DEFINE_integer
        if default is dataclasses.MISSING:
            default = None
        define(
            flag.name,
            default,
            "help",
            flag_values=values,
            module_name=parsing.script_name(),
        )
    values(["script", "--folder=x", "--steps=5"])
    monkeypatch.setattr(sys, "argv", ["/folder/script.py", "--folder=x"])
    parsed = parsing.parse_flags(Config)
    assert parsed.config == config_values.create_config(Config, folder="x")
    assert parsed.given == {"folder", "steps"}
    assert parsed.command == {"folder": "x", "steps": 5}
    # model.json, which others may read, names no folder.
    assert parsed.script == "script.py"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("doc_stride", -1),
        ("doc_stride", True),
        ("doc_stride", 1.5),
        ("labels", "a,b"),
        ("labels", [1, 2]),
        ("output_mode", "regresion"),
        ("xnli_language", ["de"]),
        ("dev_fraction", 0.95),
        ("report", "no"),
    ],
)
def test_a_value_of_a_file_is_checked_as_the_flag_would_be(name, value):
    config = config_values.create_config(
        run_classifier.Config, output_dir="run"
    )
    with pytest.raises(ValueError, match=rf"model\.json.*{name}"):
        config_values.fill(config, frozenset(), {name: value}, "model.json")
