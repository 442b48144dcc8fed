"""The base class of what reads the train, dev and test sets of a task."""

import abc
from collections.abc import Mapping
from typing import Generic, TypeVar

from data.processors.set_names import BaseSet

_ExampleT = TypeVar("_ExampleT")


class DataProcessor(abc.ABC, Generic[_ExampleT]):
    """Reads each set of a task once, and holds it until the run takes it.

    Call `read` to look at a set, as often and in any order you like. Only the
    run calls `take`, when it writes the set's records. From then on, the
    processor does not hold the set, so that its memory can be freed. A subclass
    defines `_read_sets`, which only `read` calls.
    """

    def __init__(self) -> None:
        # {name of a set that was read, and not yet taken: its examples}
        self._held: dict[BaseSet, list[_ExampleT]] = {}

    def read(self, set_name: BaseSet) -> list[_ExampleT]:
        """Returns the examples of a set, and holds them.

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: the set is empty, or a line is malformed. The message
                names the file and the line.
        """
        if set_name not in self._held:
            self._held.update(self._read_sets(set_name))
        return self._held[set_name]

    def take(self, set_name: BaseSet) -> list[_ExampleT]:
        """Returns a set as `read` does, and holds it no longer."""
        examples = self.read(set_name)
        del self._held[set_name]
        return examples

    @abc.abstractmethod
    def _read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[_ExampleT]]:
        """Reads a set from its file, for `read`, whose errors it raises.

        Returns:
            {set name: examples}, with the other sets that the same file
            contains, so that it is read only once.
        """
