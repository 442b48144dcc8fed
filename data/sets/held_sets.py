"""Holds the sets of a task that were read, until the run takes them."""

import abc
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

from data.sets.set_names import BaseSet

ExampleT = TypeVar("ExampleT")


class HeldSets(abc.ABC, Generic[ExampleT]):
    """Reads each set of a task once, and holds it until the run takes it.

    A command needs a set several times before it trains, for example to collect
    labels and then to choose a length. So that the file is read only once,
    `read` holds the set. Call it as often and in any order you like. Then the
    run calls `take` once for each set, when it writes the set's records. After
    that, nothing is held of the set, so that its memory can be freed.

    A subclass says how a set is read, in `read_sets`, and overrides
    `read_labels` if its task has labels.

    All methods that read a set raise an OSError if the set's file does not
    exist or cannot be read, and a ValueError if the set is empty or a line is
    malformed. The message names the file and the line.

    Examples:
        >>> class Numbers(HeldSets[int]):
        ...     def read_sets(self, set_name):
        ...         return {set_name: [1, 2, 3]}
        >>> Numbers().read("train")
        [1, 2, 3]
    """

    def __init__(self) -> None:
        # {name of a set that was read: its examples, None if they were taken}
        self._held: dict[BaseSet, list[ExampleT] | None] = {}

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the values that decide in which set a row of a file is.

        The names are empty if no --data_file is split into these sets. This is
        the default, and holds for the sets of GLUE.
        """
        return ()

    @abc.abstractmethod
    def read_sets(self, set_name: BaseSet) -> Mapping[BaseSet, list[ExampleT]]:
        """Reads the file of a set.

        Returns:
            {name of each set that the file contains: its examples}. `set_name`
            is one of the names.
        """

    def read_labels(self) -> list[str] | None:
        """Returns the labels of the task, in order.

        Returns None if the task has none, as in regression. This is the
        default. If only the sets name the labels, the first call reads them.
        """
        return None

    def read(self, set_name: BaseSet) -> list[ExampleT]:
        """Returns the examples of a set, and holds them until they are taken.

        Raises:
            RuntimeError: the set was taken.
        """
        if set_name not in self._held:
            self._held.update(self.read_sets(set_name))
        examples = self._held[set_name]
        if examples is None:
            raise RuntimeError(
                f"the run has taken the {set_name} set, which is read only once"
            )
        return examples

    def hold(self, set_names: Iterable[BaseSet]) -> None:
        """Reads sets, and holds them.

        A script thus stops at a wrong file before it loads TensorFlow.
        """
        for set_name in set_names:
            self.read(set_name)

    def take(self, set_name: BaseSet) -> list[ExampleT]:
        """Returns the examples of a set, and does not hold them any longer.

        A set can be taken only once.

        Raises:
            RuntimeError: the set was taken before.
        """
        examples = self.read(set_name)
        self._held[set_name] = None
        return examples
