"""Who decides the flags of a command."""

import dataclasses

import pytest

from data.classification.user_tables.table_columns import ColumnOptions
from options.parsed_command import ParsedCommand
from tests.support.flag_groups import Config
from training.config.classifier_config import ClassifierConfig


def parse(**values):
    """Returns the command of a user who sets these flags."""
    return ParsedCommand(Config.from_values(**values), values)


def decide_loop(parsed, **values):
    """Returns the command with other values in its group `loop`."""
    return parsed.override(dataclasses.replace(parsed.config.loop, **values))


def test_a_file_decides_flags_that_are_open():
    stated = {"steps": 3, "length": None, "no_flag": 2}
    decided = parse(folder="x").decide_if_open(stated, "x")
    assert decided.config.loop.steps == 3
    assert decided.decided == {"steps"}
    assert "steps" not in decided.set_by_user


def test_a_flag_that_the_user_set_is_not_decided_by_a_file():
    parsed = parse(folder="x", steps=5)
    kept = parsed.decide_if_open({"steps": 3}, "x")
    assert kept.config.loop.steps == 5


def test_the_first_file_that_states_a_value_decides():
    """Even if its value is the default."""
    parsed = parse(folder="x")
    default = parsed.config.loop.steps
    once = parsed.decide_if_open({"steps": default}, "x")
    twice = once.decide_if_open({"steps": 3}, "y")
    assert twice.config.loop.steps == default


def test_a_flag_is_open_until_it_is_decided():
    parsed = parse(folder="x", length=9)
    assert parsed.is_open("steps")
    assert not parsed.is_open("length")
    decided = decide_loop(parsed, steps=3)
    assert decided.config.loop.steps == 3
    assert not decided.is_open("steps")


def test_no_file_may_decide_a_flag_without_a_role():
    with pytest.raises(TypeError, match="name"):
        parse(folder="x").is_open("name")


def test_code_decides_only_the_flags_that_it_changes():
    decided = decide_loop(parse(folder="x"), steps=3)
    assert decided.decided == {"steps"}
    assert decided.is_open("length")


def test_code_may_change_a_flag_that_the_user_set():
    """A path on the hub becomes the folder with its copy."""
    decided = decide_loop(parse(folder="hf://x"), folder="x")
    assert decided.config.loop.folder == "x"


def test_a_decided_flag_has_the_same_value_in_all_groups():
    parsed = parse(folder="x")
    config = decide_loop(parsed, length=512).config
    assert config.loop.length == config.windows.length == 512


def test_only_a_group_of_the_config_can_be_decided():
    with pytest.raises(TypeError, match="ColumnOptions"):
        parse(folder="x").override(ColumnOptions())


@pytest.mark.parametrize("value", ["3", 2.5, 0])
def test_only_a_valid_value_can_be_decided(value):
    with pytest.raises(ValueError, match=rf"--steps.*{value}"):
        decide_loop(parse(folder="x"), steps=value)


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
    config = ClassifierConfig.from_values(output_dir="run")
    with pytest.raises(ValueError, match=rf"model\.json.*{name}"):
        ParsedCommand(config).decide_if_open({name: value}, "model.json")
