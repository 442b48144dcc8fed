"""What model.json records of the sets of a run."""

import pytest

from model_folders.recorded_sets import (
    DevSetRule,
    RecordedSet,
    parse_dev_set_rule,
)

RULE = DevSetRule(rule=1, dev_fraction=0.2, key=("text",), clean_fraction=0.2)


def model_json(entry):
    """Returns the entries of a model.json with an entry of the rule."""
    return {"origin": {"settings": {"split": entry}}}


def test_a_rule_comes_back_from_its_entry():
    contents = model_json(RULE.to_entry())
    assert parse_dev_set_rule(contents, "model.json") == RULE


@pytest.mark.parametrize("contents", [{}, {"origin": {}}, model_json({})])
def test_without_an_entry_no_run_chose_its_sets(contents):
    assert parse_dev_set_rule(contents, "model.json") is None


def test_an_incomplete_entry_names_what_it_lacks():
    entry = RULE.to_entry()
    del entry["key"]
    with pytest.raises(ValueError, match="`split` lacks `key`"):
        parse_dev_set_rule(model_json(entry), "model.json")


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
