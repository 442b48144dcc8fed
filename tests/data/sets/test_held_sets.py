"""When a set is read, and how long its examples are held."""

import weakref

import pytest

from data.sets.held_sets import HeldSets


class Example:
    """An example that tells when it is freed, unlike a text."""


class RecordingSets(HeldSets):
    """Sets of two examples each. Lists the names by which they are read.

    The train set and the dev set are in one file.
    """

    def __init__(self):
        super().__init__()
        self.read_names = []

    def read_sets(self, set_name):
        """Returns new examples of all sets in the file of a set."""
        self.read_names.append(set_name)
        names = ["test"] if set_name == "test" else ["train", "dev"]
        return {name: [Example(), Example()] for name in names}


@pytest.fixture
def held_sets():
    """Sets of which none was read."""
    return RecordingSets()


def test_a_set_is_read_once_until_it_is_taken(held_sets):
    train = held_sets.read("train")
    test = held_sets.read("test")
    assert held_sets.read("train") is train
    assert held_sets.take("train") is train
    assert held_sets.take("test") is test
    assert held_sets.read_names == ["train", "test"]


def test_two_sets_of_one_file_are_read_together(held_sets):
    train = held_sets.read("train")
    dev = held_sets.take("dev")
    assert held_sets.take("train") is train is not dev
    assert held_sets.read_names == ["train"]


def test_a_set_that_was_taken_is_read_again(held_sets):
    train = held_sets.take("train")
    assert held_sets.read("train") is not train
    assert held_sets.read_names == ["train", "train"]


def test_a_set_that_was_taken_is_freed(held_sets):
    held_sets.read("train")
    example = weakref.ref(held_sets.take("train")[0])
    assert example() is None


def test_a_set_that_was_taken_is_never_held_again(held_sets):
    held_sets.take("train")
    held_sets.take("dev")
    train_example = weakref.ref(held_sets.read("train")[0])
    dev_example = weakref.ref(held_sets.read("dev")[0])
    assert train_example() is dev_example() is None


def test_a_set_that_is_held_stays_when_its_file_is_read_again(held_sets):
    held_sets.take("train")
    dev = held_sets.read("dev")
    held_sets.read("train")
    assert held_sets.read("dev") is dev
