"""How model.json states the rule of a dev set."""

import pytest

from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from training.dev_set.rules import DevSetRule, dev_set_rule_of, has_data_file

RULE = DevSetRule(
    version=1, dev_fraction=0.2, key=("text",), clean_fraction=0.2
)


def run_with(split):
    """Returns the Preset of a run with this entry of its rule."""
    return Preset(
        "run", training_settings=TrainingSettings(inputs={"split": split})
    )


def test_a_dev_set_rule_is_read_from_the_entry_that_it_wrote():
    assert dev_set_rule_of(run_with(split=RULE.to_entry())) == RULE


def test_the_entry_of_a_dev_set_rule_states_its_version():
    """The folders of earlier runs contain this key."""
    assert RULE.to_entry()["rule"] == RULE.version


@pytest.mark.parametrize("preset", [Preset("bert"), run_with(split={})])
def test_a_model_without_a_split_entry_has_no_dev_set_rule(preset):
    assert dev_set_rule_of(preset) is None


def test_an_incomplete_entry_names_what_it_lacks():
    entry = RULE.to_entry()
    del entry["key"]
    with pytest.raises(
        ValueError, match=r"^run/model\.json: `split` lacks `key`"
    ):
        dev_set_rule_of(run_with(split=entry))


@pytest.mark.parametrize(
    ("command", "expected"), [({"data_file": "a.csv"}, True), ({}, False)]
)
def test_the_command_of_a_run_says_whether_it_had_a_table(command, expected):
    preset = Preset("run", model_json={"origin": {"command": command}})
    assert has_data_file(preset) is expected


@pytest.mark.parametrize(("clean", "is_doubtful"), [(0.2, False), (0.1, True)])
def test_a_larger_dev_set_than_before_is_doubtful(clean, is_doubtful):
    rule = DevSetRule(1, 0.2, ("text",), clean_fraction=clean)
    assert rule.is_doubtful == is_doubtful
