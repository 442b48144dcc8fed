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


@pytest.mark.parametrize("reads_again", ["read", "take"])
def test_a_set_that_was_taken_cannot_be_read_again(held_sets, reads_again):
    held_sets.take("train")
    with pytest.raises(RuntimeError, match="train set"):
        getattr(held_sets, reads_again)("train")
    assert held_sets.read_names == ["train"]


def test_a_set_that_was_taken_is_freed(held_sets):
    held_sets.read("train")
    example = weakref.ref(held_sets.take("train")[0])
    assert example() is None


def test_sets_that_are_read_at_once_are_held(held_sets):
    held_sets.read_all(["test", "train"])
    assert held_sets.read_names == ["test", "train"]
    held_sets.read("dev")
    assert held_sets.read_names == ["test", "train"]


def test_a_task_has_no_labels_by_default(held_sets):
    assert held_sets.read_labels() is None
    assert not held_sets.read_names
