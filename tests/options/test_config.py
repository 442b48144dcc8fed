"""The flags of a script, and their values, whatever group they are in."""

import dataclasses

import pytest

import options.config
from data.classification.user_tables.table_columns import ColumnOptions
from options.fields import Role, group
from tests.support.flag_groups import Config, Loop, Windows


def test_a_flag_of_two_groups_is_refused():
    with pytest.raises(TypeError, match=r"\['length'\] .* several groups"):

        class Twice(options.config.Config):
            loop: Loop = group(Loop)
            windows: Windows = group(Windows)


def test_two_groups_share_the_value_of_a_flag():
    config = Config.from_values(folder="x", length=9)
    assert config.loop.length == config.windows.length == 9


def test_a_changed_value_is_that_of_all_groups():
    config = Config.from_values(folder="x", length=9)
    changed = config.with_groups(dataclasses.replace(config.windows, length=8))
    assert changed.loop.length == changed.windows.length == 8
    assert (changed.loop.steps, changed.windows.stride) == (5, 64)


def test_two_groups_may_change_at_once():
    config = Config.from_values(folder="x")
    changed = config.with_groups(
        dataclasses.replace(config.windows, length=8),
        dataclasses.replace(config.loop, steps=3),
    )
    assert changed.loop.length == changed.windows.length == 8
    assert changed.loop.steps == 3


def test_a_class_that_is_not_a_group_of_the_config_is_refused():
    config = Config.from_values(folder="x")
    with pytest.raises(TypeError, match="ColumnOptions"):
        config.with_groups(ColumnOptions(labels=["a"]))


def test_a_field_that_is_not_an_option_is_not_replaced():
    config = Config.from_values(folder="x")
    group = dataclasses.replace(config.loop, patience=1)
    with pytest.raises(TypeError, match="patience"):
        config.with_groups(group)


def test_values_of_a_file_need_no_group():
    config = Config.from_values(folder="x")
    changed = config.with_values({"name": "n", "steps": 3})
    assert (changed.name, changed.loop.steps) == ("n", 3)


def test_the_values_of_all_groups_are_those_of_flags():
    config = Config.from_values(folder="x", length=9, steps=7)
    assert config.option_values() == {
        "folder": "x",
        "length": 9,
        "name": None,
        "steps": 7,
    }


def test_values_may_be_those_of_flags_with_a_role():
    config = Config.from_values(folder="x", length=9)
    assert config.option_values(Role.HEAD) == {"length": 9}


@pytest.mark.parametrize("name", ["stride", "patience", "loop"])
def test_a_value_for_an_unknown_flag_is_an_error(name):
    values = {"folder": "x", name: 1}
    with pytest.raises(TypeError, match=name):
        Config.from_values(**values)


def test_a_required_flag_needs_a_value():
    with pytest.raises(TypeError, match=r"\['folder'\] have no value"):
        Config.from_values()
