"""Reads the sets of a task, from a folder or from a single file."""

import abc
import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

from data.io.set_files import find_set_file
from data.processors.data_processor import DataProcessor
from data.processors.set_names import BaseSet
from data.tables import data_file_split
from data.tables.data_file_options import DataFileOptions
from data.tables.row_keys import key_of
from files.paths import StrPath


class Example(Protocol):
    """An example of a set.

    Attributes:
        row: {column: cell} of the example's row of the file, or None.
    """

    row: Mapping[str, object] | None


ExampleT = TypeVar("ExampleT", bound=Example)
OptionsT = TypeVar("OptionsT")


class FileProcessor(DataProcessor[ExampleT], Generic[ExampleT, OptionsT]):
    """Reads the sets of a data folder, or splits --data_file into two sets.

    The attribute `row` of an example is its row of the file, or None in a train
    set. `file_names` are the names that the file of each set may have. A
    subclass defines `_read_file`, which reads one of them.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        options: flags of the task that tell how to read its files.
    """

    file_names: ClassVar[Mapping[BaseSet, Sequence[str]]]

    def __init__(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        options: OptionsT,
    ) -> None:
        super().__init__()
        self._source = data_file_options.data_file or data_dir
        self._data_file_options = data_file_options
        self._options = options
        # None until `find_labels` is called, and in regression.
        self._labels: list[str] | None = None

    @abc.abstractmethod
    def find_labels(self) -> list[str] | None:
        """Returns the labels of the task, in order, or None in regression.

        Unless flags name them, the first call reads the train set.
        """

    def _find_label_names(self) -> list[str]:
        """Returns the labels that flags name, or else the train set.

        In the second case, the first call reads the train set.
        """
        if self._labels is None:
            self._labels = self._labels_of_flags
        if self._labels is None:
            train = self.read("train")
            # The dev set of the same file may have more labels.
            dev = self.read("dev") if self._data_file_options.data_file else []
            self._labels = self._labels_of_sets(train, dev)
        return self._labels

    @property
    @abc.abstractmethod
    def _labels_of_flags(self) -> list[str] | None:
        """The labels that flags name. None = the train set names them."""

    @abc.abstractmethod
    def _labels_of_sets(
        self, train: Sequence[ExampleT], dev: Sequence[ExampleT]
    ) -> list[str]:
        """Returns the labels that the examples have, in order.

        Args:
            train: the train set.
            dev: the dev set of --data_file. Empty for a data folder, whose dev
                set may contain only labels of the train set.

        Raises:
            ValueError: the examples have too few labels.
        """

    def _load_sets(self, set_name: BaseSet) -> dict[BaseSet, list[ExampleT]]:
        """Reads a set from its file, or splits --data_file.

        A dev or a test set of a data folder may contain only labels of the
        task. The function therefore finds these labels first.

        Returns:
            {set name: examples}: both sets of --data_file, or only `set_name`.
        """
        if self._data_file_options.data_file:
            train, dev = self._split_file(self._data_file_options.data_file)
            sets: dict[BaseSet, list[ExampleT]] = {"train": train, "dev": dev}
        else:
            if set_name == "train":
                labels = self._labels_of_flags
            else:
                # Unless flags name the labels, this call reads the train set.
                labels = self.find_labels()
            path = find_set_file(
                self._source, set_name, self.file_names[set_name]
            )
            sets = {set_name: self._read_file(path, set_name, labels)}
        _drop_rows(sets.get("train", ()))
        return sets

    def _keeps_rows(self, set_name: BaseSet) -> bool:
        """Returns whether examples that `_read_file` returns need their rows.

        No file shows the rows of a train set. But --data_file, which is read as
        the train set, contains the rows of the dev set too.
        """
        return set_name != "train" or bool(self._data_file_options.data_file)

    def _split_file(self, path: str) -> tuple[list[ExampleT], list[ExampleT]]:
        """Returns the train set and the dev set of --data_file."""
        examples = self._read_file(path, "train", self._labels_of_flags)
        train, dev = data_file_split.split_examples(
            path,
            examples,
            self.keys_of(examples),
            self._data_file_options.dev_fraction,
        )
        data_file_split.log_labels(
            path, self._count_labels(train), self._count_labels(dev)
        )
        return train, dev

    def _count_labels(
        self, examples: Iterable[ExampleT]
    ) -> collections.Counter[str]:
        labels = map(self.labels_of, examples)
        return collections.Counter(itertools.chain.from_iterable(labels))

    @abc.abstractmethod
    def _read_file(
        self, path: StrPath, set_name: BaseSet, labels: Sequence[str] | None
    ) -> list[ExampleT]:
        """Reads the set `set_name` from a file, for `read`.

        Args:
            path: a file of the data folder, or --data_file.
            set_name: "train", "dev" or "test". --data_file is a train set.
            labels: the labels that the rows may have. None = any, because the
                rows name them, or the task is a regression.

        Raises:
            OSError: the file cannot be read.
            ValueError: a line is malformed. The message names it.
        """

    @abc.abstractmethod
    def texts_of(self, example: ExampleT) -> Sequence[str]:
        """Returns the texts that form the input for an example."""

    @abc.abstractmethod
    def labels_of(self, example: ExampleT) -> Sequence[str]:
        """Returns labels to count in both sets, [] if there are none."""

    @property
    @abc.abstractmethod
    def key_names(self) -> list[str]:
        """Names of what the keys consist of, such as columns, sorted."""

    def key_texts(self, example: ExampleT) -> Sequence[str]:
        """Returns the texts that decide which set an example is in."""
        return self.texts_of(example)

    def keys_of(self, examples: Sequence[ExampleT]) -> list[str]:
        """Returns the key of each example. Equal keys are in the same set."""
        return [key_of(self.key_texts(example)) for example in examples]


def _drop_rows(train_set: Iterable[Example]) -> None:
    """Sets the rows of a train set to None, to free their memory.

    The set of a row of --data_file is only known once the row was read.
    """
    for example in train_set:
        example.row = None
