"""Holds the sets of a task that were read, until the run takes them."""

import abc
from collections.abc import Mapping
from typing import Generic, TypeVar

from data.sets.set_names import BaseSet

ExampleT = TypeVar("ExampleT")


class HeldSets(abc.ABC, Generic[ExampleT]):
    """Reads each set of a task once, and holds it until the run takes it.

    Call `read` to look at a set, as often and in any order you like. Only the
    run calls `take`, when it writes the set's records. From then on, the set is
    not held, so that its memory can be freed. If `read` is called for it later,
    its file is read again.

    A subclass only says how a set is read, in `read_sets`.
    """

    def __init__(self) -> None:
        # {name of a set that was read, and not yet taken: its examples}
        self._held: dict[BaseSet, list[ExampleT]] = {}
        self._taken: set[BaseSet] = set()

    @abc.abstractmethod
    def read_sets(self, set_name: BaseSet) -> Mapping[BaseSet, list[ExampleT]]:
        """Reads the file of a set.

        Returns:
            {name of each set that the file contains: its examples}. `set_name`
            is one of the names.

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: the set is empty, or a line is malformed. The message
                names the file and the line.
        """

    def read(self, set_name: BaseSet) -> list[ExampleT]:
        """Returns the examples of a set, and holds them until they are taken.

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: the set is empty, or a line is malformed. The message
                names the file and the line.
        """
        if set_name in self._held:
            return self._held[set_name]
        examples_of_set = self.read_sets(set_name)
        for name, examples in examples_of_set.items():
            if name not in self._taken:
                # Another set of the file may be held already.
                self._held.setdefault(name, examples)
        return examples_of_set[set_name]

    def take(self, set_name: BaseSet) -> list[ExampleT]:
        """Returns a set as `read` does, and holds it no longer."""
        examples = self.read(set_name)
        self._held.pop(set_name, None)
        self._taken.add(set_name)
        return examples
