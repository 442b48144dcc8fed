"""Values of flags, whatever group they are in."""

import pytest

from command_line.parsed_command import ParsedCommand
from data.classification.user_tables.column_options import ColumnOptions
from options import config_values
from tests.support.flag_groups import Config, Loop, Windows
from training.config.classifier_config import ClassifierConfig


def test_two_groups_share_the_value_of_a_flag():
    config = config_values.create_config(Config, folder="x", length=9)
    assert config.loop.length == config.windows.length == 9


def test_a_changed_value_is_that_of_all_groups():
    config = config_values.create_config(Config, folder="x", length=9)
    changed = config_values.replace_flags(config, Windows, length=8)
    assert changed.loop.length == changed.windows.length == 8
    assert (changed.loop.steps, changed.windows.stride) == (5, 64)


def test_a_flag_of_no_group_is_replaced_by_the_class_of_the_config():
    config = config_values.create_config(Config, folder="x")
    assert config_values.replace_flags(config, Config, name="n").name == "n"


def test_a_class_that_is_no_group_of_the_config_is_refused():
    config = config_values.create_config(Config, folder="x")
    with pytest.raises(TypeError, match="ColumnOptions"):
        config_values.replace_flags(config, ColumnOptions, labels=["a"])


def test_a_field_that_is_no_flag_is_not_replaced():
    config = config_values.create_config(Config, folder="x")
    with pytest.raises(TypeError, match="patience"):
        config_values.replace_flags(config, Loop, patience=1)


def test_what_the_user_set_is_not_replaced_by_a_default():
    config = config_values.create_config(Config, folder="x", steps=7)
    completed = config_values.replace_unset_flags(
        config, frozenset({"steps"}), Loop, steps=3, length=8
    )
    assert (completed.loop.steps, completed.loop.length) == (7, 8)


def test_the_values_of_all_groups_are_those_of_flags():
    config = config_values.create_config(Config, folder="x", length=9, steps=7)
    assert config_values.flag_values_of(config) == {
        "folder": "x",
        "length": 9,
        "name": None,
        "steps": 7,
    }


def parse(**values):
    """Returns the command of a user who sets these flags."""
    return ParsedCommand(config_values.create_config(Config, **values), values)


def test_a_file_decides_flags_that_are_open():
    stated = {"steps": 3, "length": None, "no_flag": 2}
    decided = config_values.decide_open_flags(parse(folder="x"), stated, "x")
    assert decided.config.loop.steps == 3
    assert decided.decided == {"steps"}
    assert "steps" not in decided.set_by_user


def test_what_the_user_set_stays():
    parsed = parse(folder="x", steps=5)
    kept = config_values.decide_open_flags(parsed, {"steps": 3}, "x")
    assert kept.config.loop.steps == 5


def test_the_first_file_that_states_a_value_decides():
    """Even if its value is the default."""
    parsed = parse(folder="x")
    default = parsed.config.loop.steps
    once = config_values.decide_open_flags(parsed, {"steps": default}, "x")
    twice = config_values.decide_open_flags(once, {"steps": 3}, "y")
    assert twice.config.loop.steps == default


def test_a_flag_is_open_until_it_is_decided():
    parsed = parse(folder="x", length=9)
    assert config_values.is_open(parsed, "steps")
    assert not config_values.is_open(parsed, "length")
    decided = config_values.decide_flags(parsed, Loop, steps=3)
    assert decided.config.loop.steps == 3
    assert not config_values.is_open(decided, "steps")


def test_no_file_may_decide_a_flag_without_a_role():
    with pytest.raises(TypeError, match="name"):
        config_values.is_open(parse(folder="x"), "name")


@pytest.mark.parametrize("name", ["stride", "patience", "loop"])
def test_what_is_no_flag_has_no_value(name):
    values = {"folder": "x", name: 1}
    with pytest.raises(TypeError, match=name):
        config_values.create_config(Config, **values)


def test_a_required_flag_needs_a_value():
    with pytest.raises(TypeError, match=r"\['folder'\] have no value"):
        config_values.create_config(Config)


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
    config = config_values.create_config(ClassifierConfig, output_dir="run")
    with pytest.raises(ValueError, match=rf"model\.json.*{name}"):
        config_values.decide_open_flags(
            ParsedCommand(config), {name: value}, "model.json"
        )
