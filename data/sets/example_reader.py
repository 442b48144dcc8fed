"""Defines what a task must implement to read the files of its sets.

An `ExampleReader` reads a `SetFile`. `FileSets` call it, and decide which rows
are in which set. The reader does not know `FileSets`.
"""

import abc
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from data.sets.set_names import BaseSet
from data.sets.text_keys import key_of
from files.paths import StrPath


class RowExample(Protocol):
    """An example of a set, which is a row of a file.

    Attributes:
        row: {column: cell} of the example's row of the file, or None.
    """

    row: Mapping[str, object] | None

    @property
    def texts(self) -> Sequence[str]:
        """The texts that form the input for the example."""

    def without_row(self) -> Self:
        """Returns a copy whose `row` is None."""


RowExampleT = TypeVar("RowExampleT", bound=RowExample)


class SetFile(NamedTuple):
    """A file to read.

    Attributes:
        path: a file of the data folder, or --data_file.
        set_name: the set that it contains, "train" for --data_file.
        source: value of --data_dir or --data_file, for messages.
        labels: the labels that its rows may have, () if none are known yet, so
            that any label is valid.
        is_data_file: whether the file is --data_file, whose rows become a train
            set and a dev set.
    """

    path: str
    set_name: BaseSet
    source: StrPath | None
    labels: Sequence[str] = ()
    is_data_file: bool = False

    @property
    def keeps_rows(self) -> bool:
        """Whether the examples contain their rows of the file.

        No output shows the rows of a train set, so they are dropped to save
        memory. The rows of --data_file are kept until the file is split,
        because it is not known before which of them are in the train set.
        """
        return self.is_data_file or self.set_name != "train"


class ExampleReader(abc.ABC, Generic[RowExampleT]):
    """Reads the examples of a task from the files of its sets.

    Attributes:
        file_names: {set: names that its file may have in a folder}.
        has_labels: False in a regression, whose examples have numbers.
        labels_of_flags: the labels that flags name, () if no flag names them.
            The rows of the train set then do.
    """

    file_names: Mapping[BaseSet, Sequence[str]]
    has_labels: bool = True
    labels_of_flags: Sequence[str] = ()

    @property
    @abc.abstractmethod
    def key_names(self) -> list[str]:
        """Names of what decides about the dev set, such as columns, sorted."""

    @abc.abstractmethod
    def read_file(self, file: SetFile) -> list[RowExampleT]:
        """Reads the examples of a file, and logs what is left out of them.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file contains no example, or a line is malformed.
                The message names it.
        """

    @abc.abstractmethod
    def labels_of(self, example: RowExampleT) -> Sequence[str]:
        """Returns labels to count in both sets, [] if there are none."""

    def compute_keys(self, examples: Sequence[RowExampleT]) -> list[str]:
        """Returns the key of each example. Equal keys are in the same set.

        By default, all texts of an example decide.
        """
        return [key_of(example.texts) for example in examples]

    @abc.abstractmethod
    def collect_labels(
        self,
        source: StrPath | None,
        train: Sequence[RowExampleT],
        dev: Sequence[RowExampleT],
    ) -> list[str]:
        """Returns the labels that the examples have, in order.

        Args:
            source: value of --data_dir or --data_file, for messages.
            train: the train set.
            dev: the dev set of --data_file. Empty for a data folder, whose dev
                set may contain only labels of the train set.

        Raises:
            ValueError: the examples have too few labels.
        """

    def report_labels(
        self,
        source: StrPath | None,
        labels: Sequence[str],
        train: Sequence[RowExampleT],
        dev: Sequence[RowExampleT],
    ) -> None:
        """Logs what users should know of the labels. By default, nothing.

        `labels` are those that `collect_labels` returned for the same sets.
        """
