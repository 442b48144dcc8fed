"""When a set is read, and how long its examples are held."""

import weakref

import pytest

from data.sets.held_sets import HeldSets


class Example:
    """An example that tells when it is freed, unlike a text."""


@pytest.fixture
def read_names():
    """The names of the sets whose files were read, in this order."""
    return []


@pytest.fixture
def held_sets(read_names):
    """Sets of two examples each, of which none was read."""

    def read_file(set_name):
        read_names.append(set_name)
        return [Example(), Example()]

    return HeldSets(read_file)


def test_a_set_is_read_once_until_it_is_taken(held_sets, read_names):
    train = held_sets.read("train")
    dev = held_sets.read("dev")
    assert held_sets.read("train") is train
    assert held_sets.take("train") is train
    assert held_sets.take("dev") is dev
    assert read_names == ["train", "dev"]


def test_a_set_that_was_taken_is_read_again(held_sets, read_names):
    train = held_sets.take("train")
    assert held_sets.read("train") is not train
    assert read_names == ["train", "train"]


def test_a_set_that_was_taken_is_freed(held_sets):
    held_sets.read("train")
    example = weakref.ref(held_sets.take("train")[0])
    assert example() is None
