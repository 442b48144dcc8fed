"""The settings of a head: which of them a head has."""

import pytest

from model_folders.head_settings import (
    TaskEntry,
    classifier_settings_of,
    output_mode_of,
)


@pytest.mark.parametrize(
    ("head_settings", "output_mode"),
    [
        ({"output_mode": "regression"}, "regression"),
        ({"output_mode": None}, "classification"),
        ({"labels": ["O", "B-PER"], "legal_tags": True}, "classification"),
    ],
)
def test_the_output_mode_is_classification_unless_it_is_stated(
    head_settings, output_mode
):
    assert output_mode_of(head_settings) == output_mode


def test_the_settings_of_another_head_contain_none_of_a_classifier():
    assert not classifier_settings_of({"legal_tags": True}).get("class_weights")


def test_the_entry_of_a_head_contains_the_settings_of_every_kind():
    names = {"labels", "class_weights", "legal_tags", "n_best_size", "name"}
    assert names <= TaskEntry.__optional_keys__
