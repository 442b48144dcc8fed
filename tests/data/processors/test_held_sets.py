"""When a processor reads a set, and how long it holds the examples."""

import weakref

from data.processors.data_processor import DataProcessor


class Example:
    """An example that tells when it is freed, unlike a text."""


class CountingProcessor(DataProcessor[Example]):
    """Counts how often it reads."""

    num_loads = 0

    def _read_sets(self, set_name):
        """Creates two examples."""
        self.num_loads += 1
        return {set_name: [Example(), Example()]}


def test_a_set_is_read_once_until_it_is_taken():
    processor = CountingProcessor()
    train = processor.read("train")
    dev = processor.read("dev")
    assert processor.read("train") is train
    assert processor.take("train") is train
    assert processor.take("dev") is dev
    assert processor.num_loads == 2


class OneFileProcessor(DataProcessor[Example]):
    """Reads two sets from one file."""

    num_loads = 0

    def _read_sets(self, set_name):
        """Creates an example of both sets."""
        self.num_loads += 1
        return {"train": [Example()], "dev": [Example()]}


def test_all_sets_of_a_file_are_read_at_once():
    processor = OneFileProcessor()
    processor.take("train")
    processor.take("dev")
    assert processor.num_loads == 1


def test_a_set_that_was_taken_is_freed():
    processor = CountingProcessor()
    processor.read("train")
    example = weakref.ref(processor.take("train")[0])
    assert example() is None
