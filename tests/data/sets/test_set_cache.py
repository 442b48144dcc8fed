"""When a reader reads a set, and how long it holds the examples."""

import weakref

from data.sets.set_cache import CachingReader


class Example:
    """An example that tells when it is freed, unlike a text."""


class Reader(CachingReader[Example]):
    """Counts how often it reads."""

    num_loads = 0

    def load(self, purpose):
        """Creates two examples."""
        self.num_loads += 1
        return {purpose: [Example(), Example()]}


def test_a_set_is_read_once_until_it_is_taken():
    reader = Reader()
    seen = [reader.read("train"), reader.read("eval"), reader.read("train")]
    assert seen[0] is seen[2] is reader.take("train")
    assert seen[1] is reader.take("eval")
    assert reader.num_loads == 2


class PairReader(CachingReader[Example]):
    """Reads two sets from one file."""

    num_loads = 0

    def load(self, purpose):
        """Creates an example of both sets."""
        self.num_loads += 1
        return {"train": [Example()], "eval": [Example()]}


def test_all_sets_of_a_file_are_read_at_once():
    reader = PairReader()
    reader.take("train")
    reader.take("eval")
    assert reader.num_loads == 1


def test_a_set_that_was_taken_is_freed():
    reader = Reader()
    reader.read("train")
    example = weakref.ref(reader.take("train")[0])
    assert example() is None
