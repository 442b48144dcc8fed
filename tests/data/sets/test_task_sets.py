"""When a set is read, and how long its examples are held."""

import weakref

import pytest

from data.sets.task_sets import TaskSets


class Example:
    """An example that tells when it is freed, unlike a text."""


@pytest.fixture
def read_names():
    """Names of the sets that were read, in order."""
    return []


@pytest.fixture
def task_sets(read_names):
    """Sets of two examples each."""

    def read_set(set_name):
        read_names.append(set_name)
        return [Example(), Example()]

    return TaskSets(read_set)


def test_a_set_is_read_once_until_it_is_taken(task_sets, read_names):
    train = task_sets.read("train")
    dev = task_sets.read("dev")
    assert task_sets.read("train") is train
    assert task_sets.take("train") is train
    assert task_sets.take("dev") is dev
    assert read_names == ["train", "dev"]


def test_a_set_that_was_taken_is_freed(task_sets):
    task_sets.read("train")
    example = weakref.ref(task_sets.take("train")[0])
    assert example() is None
