"""When a set is read, and how long its examples are held."""

import weakref

import pytest

from data.sets.held_sets import TaskSets


class Example:
    """An example that tells when it is freed, unlike a text."""


class ToySets(TaskSets):
    """Sets of two examples each, the train set and the test set in one file."""

    def __init__(self):
        super().__init__()
        # For each file that was read: the set that it was read for.
        self.read_names = []

    def _read_file_of(self, set_name):
        self.read_names.append(set_name)
        names = ["dev"] if set_name == "dev" else ["train", "test"]
        return {name: [Example(), Example()] for name in names}


@pytest.fixture
def task_sets():
    """Sets of which none was read."""
    return ToySets()


def test_a_set_is_read_once_until_it_is_taken(task_sets):
    train = task_sets.read("train")
    dev = task_sets.read("dev")
    assert task_sets.read("train") is train
    assert task_sets.take("train") is train
    assert task_sets.take("dev") is dev
    assert task_sets.read_names == ["train", "dev"]


def test_all_sets_of_a_file_are_read_at_once(task_sets):
    test = task_sets.read("test")
    task_sets.take("train")
    assert task_sets.take("test") is test
    assert task_sets.read_names == ["test"]


def test_a_set_that_was_taken_is_freed(task_sets):
    task_sets.read("train")
    example = weakref.ref(task_sets.take("train")[0])
    assert example() is None
