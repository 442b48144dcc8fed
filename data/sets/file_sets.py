"""Reads the sets of a task, from a folder or from a single file."""

import abc
import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self, TypeVar

from data.sets import data_file_split
from data.sets.data_file_options import DataFileOptions
from data.sets.held_sets import HeldSets
from data.sets.repeated_texts import RepeatedTexts
from data.sets.set_names import BaseSet, find_set_file
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
        labels: the labels that its rows may have. None if any label is valid,
            because the rows name the labels, or because the task is a
            regression.
        is_data_file: whether the file is --data_file, whose rows become a train
            set and a dev set.
    """

    path: str
    set_name: BaseSet
    labels: Sequence[str] | None
    is_data_file: bool = False

    @property
    def keeps_rows(self) -> bool:
        """Whether the examples contain their rows of the file.

        No output shows the rows of a train set, so they are dropped to save
        memory. The rows of --data_file are kept until the file is split,
        because it is not known before which of them are in the train set.
        """
        return self.is_data_file or self.set_name != "train"


class FileSets(HeldSets[RowExampleT], abc.ABC):
    """The sets of a data folder, or the two sets of --data_file.

    They are read in this order, and each file only once:

        1. The training file, with the train set: --data_file, whose other rows
           are the dev set, or the file of the train set in the folder.
        2. The labels, which the rows of the training file name.
        3. The dev set and the test set of a folder, which may contain only
           these labels.

    If flags name the labels, or if the task has no labels, then a dev set or a
    test set needs neither step 1 nor step 2.

    The attribute `row` of an example is its row of the file, or None in a train
    set. A subclass says how a file is read, and what its examples consist of.

    Examples:
        `sets` are the `TableSets` of --data_file:

        ```python
        sets.read_labels()  # ["ham", "spam"]: reads the file, and splits it
        sets.read("dev")  # returns the dev set, which is held already
        sets.take("train")  # returns the train set, and frees its memory
        ```

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        labels_of_flags: the labels that flags name. None if the rows name
            them, or if the task is a regression.
        are_labels_in_rows: whether the rows of the training file name the
            labels. False if flags name them, or if the task is a regression.
        has_repetition_warning: whether to warn if texts of the train set of a
            folder are in its dev set too.

    Attributes:
        file_names: {set: names that its file may have in a folder}.
        are_labels_in_rows: whether the rows name the labels.
        source: value of --data_file or of --data_dir, for messages.
    """

    file_names: Mapping[BaseSet, Sequence[str]]

    def __init__(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        labels_of_flags: list[str] | None,
        *,
        are_labels_in_rows: bool,
        has_repetition_warning: bool = False,
    ) -> None:
        super().__init__()
        self.are_labels_in_rows = are_labels_in_rows
        self.source = data_file_options.data_file or data_dir
        self._data_dir = data_dir
        self._data_file = data_file_options.data_file
        self._dev_fraction = data_file_options.dev_fraction
        self._labels_of_flags = labels_of_flags
        # None until `read_labels` has collected them.
        self._labels_of_rows: list[str] | None = None
        self._repeated_texts = (
            RepeatedTexts() if has_repetition_warning else None
        )

    @property
    @abc.abstractmethod
    def key_names(self) -> list[str]:
        """Names of what decides about the dev set, such as columns, sorted."""

    @abc.abstractmethod
    def labels_of(self, example: RowExampleT) -> Sequence[str]:
        """Returns labels to count in both sets, [] if there are none."""

    def keys_of(self, examples: Sequence[RowExampleT]) -> list[str]:
        """Returns the key of each example. Equal keys are in the same set.

        By default, all texts of an example decide.
        """
        return [key_of(example.texts) for example in examples]

    @abc.abstractmethod
    def read_examples(self, file: SetFile) -> list[RowExampleT]:
        """Reads the examples of a file, and logs what is left out of them.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file contains no example, or a line is malformed.
                The message names it.
        """

    @abc.abstractmethod
    def collect_labels(
        self, train: Sequence[RowExampleT], dev: Sequence[RowExampleT]
    ) -> list[str]:
        """Returns the labels that the examples have, in order.

        Args:
            train: the train set.
            dev: the dev set of --data_file. Empty for a data folder, whose dev
                set may contain only labels of the train set.

        Raises:
            ValueError: the examples have too few labels.
        """

    def read_labels(self) -> list[str] | None:
        """Returns the labels of the task, in order, or None in regression.

        If the rows name them, the first call reads the training file, unless
        its sets are held.

        Raises:
            OSError: the training file does not exist, or cannot be read.
            ValueError: it is malformed, or names too few labels.
        """
        if not self.are_labels_in_rows:
            return self._labels_of_flags
        if self._labels_of_rows is None:
            self._labels_of_rows = self.collect_labels(
                *self.read_training_sets()
            )
        return self._labels_of_rows

    def read_training_sets(self) -> tuple[list[RowExampleT], list[RowExampleT]]:
        """Returns the two sets of the training file, which name the labels.

        These are the train set and the dev set of --data_file, which may have
        more labels than the train set. With a data folder, the second list is
        []. `read` holds both sets, so that the file is read only once.
        """
        train = self.read("train")
        dev = self.read("dev") if self._data_file else []
        return train, dev

    def read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[RowExampleT]]:
        """Reads a set of the folder, or both sets of --data_file.

        For texts that are in two sets of a folder, the function logs a warning.
        """
        is_in_training_file = set_name == "train" or (
            set_name == "dev" and self._data_file
        )
        if is_in_training_file:
            return self._read_training_file()
        return {set_name: self._read_other_set(set_name)}

    def _read_training_file(self) -> dict[BaseSet, list[RowExampleT]]:
        """Reads the training file, whose rows may name the labels.

        Returns {name of each set that the file contains: its examples}.
        """
        if self._data_file:
            train, dev = self._read_and_split(self._data_file)
            return {"train": train, "dev": dev}
        return {"train": self._read_set_file("train", self._labels_of_flags)}

    def _read_other_set(self, set_name: BaseSet) -> list[RowExampleT]:
        """Reads a set that may contain only the labels of the task.

        The labels are therefore read first.
        """
        return self._read_set_file(set_name, self.read_labels())

    def _read_set_file(
        self, set_name: BaseSet, labels: Sequence[str] | None
    ) -> list[RowExampleT]:
        """Reads a file of the folder, whose rows may have only `labels`."""
        path = find_set_file(
            self._data_dir, set_name, self.file_names[set_name]
        )
        examples = self.read_examples(SetFile(path, set_name, labels))
        if self._repeated_texts and set_name != "test":
            self._repeated_texts.add(set_name, path, self.keys_of(examples))
            self._repeated_texts.warn()
        return examples

    def _read_and_split(
        self, path: str
    ) -> tuple[list[RowExampleT], list[RowExampleT]]:
        """Returns the train set and the dev set of a file, and logs both."""
        examples = self.read_examples(
            SetFile(path, "train", self._labels_of_flags, is_data_file=True)
        )
        train, dev = data_file_split.split_examples(
            path, examples, self.keys_of(examples), self._dev_fraction
        )
        data_file_split.log_sizes(path, train, dev)
        data_file_split.log_label_split(
            path, self._count_labels(train), self._count_labels(dev)
        )
        return [example.without_row() for example in train], dev

    def _count_labels(
        self, examples: Iterable[RowExampleT]
    ) -> collections.Counter[str]:
        labels = map(self.labels_of, examples)
        return collections.Counter(itertools.chain.from_iterable(labels))
