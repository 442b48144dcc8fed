"""Reads each set of a task once, and holds it until the run takes it."""

import abc
from typing import Generic, TypeVar

ExampleT = TypeVar("ExampleT")


class CachingReader(abc.ABC, Generic[ExampleT]):
    """Reads each set of a task once, and holds it until the run takes it.

    Call `read` to look at a set, as often and in any order you like. Only the
    run calls `take`, when it writes the set's records. From then on, the reader
    does not hold the set, so that its memory can be freed. A subclass defines
    `load`, which reads the file.
    """

    def __init__(self) -> None:
        # {split that was read, and not yet taken: its examples}
        self._cached: dict[str, list[ExampleT]] = {}

    def read(self, split: str) -> list[ExampleT]:
        """Returns the split "train", "eval" or "predict", and holds it.

        Raises:
            OSError: the set's file does not exist, or cannot be read.
            ValueError: the set is empty, or a line is malformed. The message
                names the file and the line.
        """
        if split not in self._cached:
            self._cached[split] = self.load(split)
        return self._cached[split]

    def take(self, split: str) -> list[ExampleT]:
        """Returns a split as `read` does, and holds it no longer."""
        examples = self.read(split)
        del self._cached[split]
        return examples

    @abc.abstractmethod
    def load(self, split: str) -> list[ExampleT]:
        """Reads a split from its file, for `read`, whose errors it raises."""
