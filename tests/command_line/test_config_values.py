"""Values of flags, whatever group they are in."""

import pytest

from command_line import config_values
from tests.support.flag_groups import Config
from training.config.classifier_config import ClassifierConfig


def test_two_groups_share_the_value_of_a_flag():
    config = config_values.create_config(Config, folder="x", length=9)
    assert config.loop.length == config.windows.length == 9


def test_a_changed_value_is_that_of_all_groups():
    config = config_values.create_config(Config, folder="x", length=9)
    changed = config_values.replace_values(config, length=8, steps=7)
    assert changed.loop.length == changed.windows.length == 8
    assert (changed.loop.steps, changed.windows.stride) == (7, 64)


def test_the_values_of_all_groups_are_those_of_flags():
    config = config_values.create_config(Config, folder="x", length=9, steps=7)
    assert config_values.flag_values_of(config) == {
        "folder": "x",
        "length": 9,
        "name": None,
        "steps": 7,
    }


def test_only_what_is_unset_is_filled():
    config = config_values.create_config(Config, folder="x", length=9)
    stated = {"steps": 3, "length": 4, "stride": 2, "folder": None}
    filled = config_values.fill_unset_flags(config, frozenset(), stated, "x")
    assert (filled.loop.steps, filled.loop.length) == (3, 9)
    assert filled.windows.stride == 64


def test_what_the_user_set_stays():
    config = config_values.create_config(Config, folder="x")
    stated = {"steps": 3}
    kept = config_values.fill_unset_flags(
        config, frozenset({"steps"}), stated, "x"
    )
    assert kept.loop.steps == 5


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
        config_values.fill_unset_flags(
            config, frozenset(), {name: value}, "model.json"
        )


def test_a_function_converts_the_flags_that_are_set():
    config = config_values.create_config(Config, folder="x")
    converted = config_values.convert_paths(config, str.upper, "folder", "name")
    values = config_values.flag_values_of(converted)
    assert (values["folder"], values["name"]) == ("X", None)
