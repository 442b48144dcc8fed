"""Holds the sets of a task that were read, until the run takes them."""

import abc
from collections.abc import Mapping
from typing import Generic, TypeVar

from data.sets.set_names import BaseSet

ExampleT = TypeVar("ExampleT")


class HeldSets(abc.ABC, Generic[ExampleT]):
    """Reads each set of a task once, and holds it until the run takes it.

    A command reads a set several times before it trains, for example to collect
    labels and then to choose a length. So that it reads the file only once,
    `read` holds the set. Call `read` as often and in any order you like. Only
    the run calls `take`, when it writes the set's records. After that, the set
    is not held, so that its memory can be freed. A later `read` would read the
    file again.

    A subclass only says how a set is read, in `read_sets`.

    Examples:
        >>> class Numbers(HeldSets[int]):
        ...     def read_sets(self, set_name):
        ...         return {set_name: [1, 2, 3]}
        >>> Numbers().read("train")
        [1, 2, 3]
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
        """Returns the examples of a set, and does not hold them any longer.

        Raises the same errors as `read`.
        """
        examples = self.read(set_name)
        self._held.pop(set_name, None)
        self._taken.add(set_name)
        return examples
