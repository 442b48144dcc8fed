"""What model.json records of the sets of a run."""

import pytest

from model_folders.reading.presets import Preset
from training.dev_set.recorded_sets import (
    DevSetRule,
    RecordedSet,
    dev_set_rule_of,
    has_data_file,
    recorded_sets_of,
)

RULE = DevSetRule(
    version=1, dev_fraction=0.2, key=("text",), clean_fraction=0.2
)


def run_with(**settings):
    """Returns the Preset of a run that recorded these settings."""
    return Preset("run", recorded_settings=settings)


def test_a_rule_comes_back_from_its_entry():
    assert dev_set_rule_of(run_with(split=RULE.to_entry())) == RULE


def test_the_version_of_a_rule_is_recorded_as_rule():
    """The folders of earlier runs contain this key."""
    assert RULE.to_entry()["rule"] == RULE.version


@pytest.mark.parametrize("preset", [Preset("bert"), run_with(split={})])
def test_without_an_entry_no_run_chose_its_sets(preset):
    assert dev_set_rule_of(preset) is None


def test_an_incomplete_entry_names_what_it_lacks():
    entry = RULE.to_entry()
    del entry["key"]
    with pytest.raises(
        ValueError, match=r"^run/model\.json: `split` lacks `key`"
    ):
        dev_set_rule_of(run_with(split=entry))


def test_recorded_sets_have_the_names_of_a_runs_files():
    preset = run_with(data=[["train", "rows.csv", 98, 7]])
    assert recorded_sets_of(preset) == {
        "train": RecordedSet("train", "rows.csv", 98, 7)
    }


def test_a_record_of_a_set_that_is_too_short_is_skipped():
    """Another program may have written it."""
    preset = run_with(data=[("train",), ("eval", "rows.csv", 2, 7)])
    assert recorded_sets_of(preset) == {
        "eval": RecordedSet("eval", "rows.csv", 2, 7)
    }


@pytest.mark.parametrize(
    ("command", "expected"), [({"data_file": "a.csv"}, True), ({}, False)]
)
def test_the_recorded_command_says_whether_a_run_had_a_table(command, expected):
    preset = Preset("run", model_json={"origin": {"command": command}})
    assert has_data_file(preset) is expected


@pytest.mark.parametrize(("clean", "is_doubtful"), [(0.2, False), (0.1, True)])
def test_a_larger_dev_set_than_before_is_doubtful(clean, is_doubtful):
    rule = DevSetRule(1, 0.2, ("text",), clean_fraction=clean)
    assert rule.is_doubtful == is_doubtful


def test_sets_of_the_same_rows_may_be_in_other_files():
    recorded = RecordedSet("train", "a.csv", 9, checksum=7)
    assert recorded.has_rows_of(RecordedSet("eval", "b.csv", 9, checksum=7))


def test_sets_of_another_checksum_have_other_rows():
    recorded = RecordedSet("train", "a.csv", 9, checksum=7)
    assert not recorded.has_rows_of(recorded._replace(checksum=8))
    assert not recorded.has_rows_of(None)
