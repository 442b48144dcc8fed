"""Who knows the labels: a user's class, or a model that it trained."""

from types import SimpleNamespace

import pytest

from data.classification.user_class.user_class_processor import (
    load_user_class_processor,
)


@pytest.fixture
def tickets(write_processor):
    """The processor of the class "Tickets"."""
    return load_user_class_processor(write_processor(), None, None)


def test_the_name_of_the_class_is_recorded(tickets):
    assert tickets.fixed_head_settings == {"processor": "Tickets"}


def test_the_labels_are_those_of_the_class(tickets):
    assert tickets.sets.read_labels() == ["no", "1"]


def test_a_set_of_the_class_is_held(tickets):
    assert tickets.sets.read("train") is tickets.sets.read("train")


@pytest.fixture
def preset():
    """What is recorded of a model that was trained with a user's class."""
    return SimpleNamespace(
        labels=["no", "yes"],
        training_settings={"processor": "Tickets"},
        source="run",
    )


def test_a_model_that_a_class_trained_needs_no_class_for_its_labels(preset):
    processor = load_user_class_processor(None, None, preset)
    assert processor.sets.read_labels() == ["no", "yes"]


def test_a_model_that_a_class_trained_needs_the_class_for_its_sets(preset):
    processor = load_user_class_processor(None, None, preset)
    with pytest.raises(ValueError, match=r"--processor=FILE\.py:Tickets"):
        processor.sets.read("dev")


def test_the_class_of_the_flag_comes_before_that_of_the_model(
    write_processor, preset
):
    processor = load_user_class_processor(write_processor(), None, preset)
    assert processor.sets.read_labels() == ["no", "1"]


def test_load_user_class_processor_is_none_without_a_class():
    assert load_user_class_processor(None, None, None) is None
