"""Values of options, whatever group they are in."""

import dataclasses

import pytest

from data.classification.user_tables.column_options import ColumnOptions
from options import config_values
from tests.support.flag_groups import Config


def test_two_groups_share_the_value_of_a_flag():
    config = config_values.create_config(Config, folder="x", length=9)
    assert config.loop.length == config.windows.length == 9


def test_a_changed_value_is_that_of_all_groups():
    config = config_values.create_config(Config, folder="x", length=9)
    changed = config_values.with_groups(
        config, dataclasses.replace(config.windows, length=8)
    )
    assert changed.loop.length == changed.windows.length == 8
    assert (changed.loop.steps, changed.windows.stride) == (5, 64)


def test_two_groups_may_change_at_once():
    config = config_values.create_config(Config, folder="x")
    changed = config_values.with_groups(
        config,
        dataclasses.replace(config.windows, length=8),
        dataclasses.replace(config.loop, steps=3),
    )
    assert changed.loop.length == changed.windows.length == 8
    assert changed.loop.steps == 3


def test_a_class_that_is_not_a_group_of_the_config_is_refused():
    config = config_values.create_config(Config, folder="x")
    with pytest.raises(TypeError, match="ColumnOptions"):
        config_values.with_groups(config, ColumnOptions(labels=["a"]))


def test_a_field_that_is_not_an_option_is_not_replaced():
    config = config_values.create_config(Config, folder="x")
    group = dataclasses.replace(config.loop, patience=1)
    with pytest.raises(TypeError, match="patience"):
        config_values.with_groups(config, group)


def test_values_of_a_file_need_no_group():
    config = config_values.create_config(Config, folder="x")
    changed = config_values.with_values(config, {"name": "n", "steps": 3})
    assert (changed.name, changed.loop.steps) == ("n", 3)


def test_the_values_of_all_groups_are_those_of_flags():
    config = config_values.create_config(Config, folder="x", length=9, steps=7)
    assert config_values.option_values_of(config) == {
        "folder": "x",
        "length": 9,
        "name": None,
        "steps": 7,
    }


@pytest.mark.parametrize("name", ["stride", "patience", "loop"])
def test_a_value_for_an_unknown_flag_is_an_error(name):
    values = {"folder": "x", name: 1}
    with pytest.raises(TypeError, match=name):
        config_values.create_config(Config, **values)


def test_a_required_flag_needs_a_value():
    with pytest.raises(TypeError, match=r"\['folder'\] have no value"):
        config_values.create_config(Config)
