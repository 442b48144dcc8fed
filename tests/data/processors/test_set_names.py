"""Names of splits, and the purposes they are read for."""

import pytest

from data.processors import split_names


@pytest.mark.parametrize(
    ("split_name", "purpose", "suffix"),
    [("eval", "eval", ""), ("eval_mm", "eval", "_mm"), ("train", "train", "")],
)
def test_a_split_has_the_name_of_its_purpose(split_name, purpose, suffix):
    assert split_names.purpose_of(split_name) == purpose
    assert split_names.suffix_of(split_name) == suffix


@pytest.mark.parametrize("split_name", ["dev", "test_mm", ""])
def test_another_name_has_no_purpose(split_name):
    with pytest.raises(ValueError, match="named after no purpose"):
        split_names.purpose_of(split_name)


def test_a_split_is_read_from_the_set_that_data_folders_have():
    assert split_names.SET_OF_PURPOSE == {
        "train": "train",
        "eval": "dev",
        "predict": "test",
    }


def test_a_name_with_a_suffix_is_no_purpose():
    assert split_names.is_purpose("eval")
    assert not split_names.is_purpose("eval_mm")
