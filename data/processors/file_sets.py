"""Reads the sets of a task, from a folder or from a single file."""

import abc
import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from data.io.set_files import find_set_file
from data.processors.data_processor import DataProcessor
from data.processors.set_names import BaseSet
from data.tables import data_file_split
from data.tables.data_file_options import DataFileOptions
from data.tables.row_keys import key_of
from files.paths import StrPath


class RowExample(Protocol):
    """An example of a set, which is a row of a file.

    Attributes:
        row: {column: cell} of the example's row of the file, or None.
    """

    row: Mapping[str, object] | None

    def without_row(self) -> Self:
        """Returns a copy whose `row` is None."""


RowExampleT = TypeVar("RowExampleT", bound=RowExample)
OptionsT = TypeVar("OptionsT")


class FileProcessor(DataProcessor[RowExampleT], Generic[RowExampleT, OptionsT]):
    """Reads the sets of a data folder, or splits --data_file into two sets.

    The processor reads in this order, and each file only once:

        1. The training file, with the train set: --data_file, whose other rows
           are the dev set, or the file of the train set in the folder.
        2. The labels, which the rows of the training file name.
        3. The dev set and the test set of a folder, which may contain only
           these labels.

    If flags name the labels, or if the task has no labels, then a dev set or a
    test set needs neither step 1 nor step 2.

    The attribute `row` of an example is its row of the file, or None in a train
    set. `file_names` are the names that the file of each set may have. A
    subclass defines `_read_file`, which reads one of them.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        options: flags of the task that tell how to read its files.
        labels_of_flags: the labels that flags name. None = the rows of the
            training file name them, or the task has no labels.
    """

    file_names: ClassVar[Mapping[BaseSet, Sequence[str]]]

    def __init__(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        options: OptionsT,
        labels_of_flags: list[str] | None,
    ) -> None:
        super().__init__()
        self._source = data_file_options.data_file or data_dir
        self._data_file_options = data_file_options
        self._options = options
        self._labels_of_flags = labels_of_flags
        # None until `_read_labels_of_rows` has read them.
        self._labels_of_rows: list[str] | None = None

    @abc.abstractmethod
    def read_labels(self) -> list[str] | None:
        """Returns the labels of the task, in order, or None in regression.

        They are `_labels_of_flags`, or else `_read_labels_of_rows` reads them.
        """

    def _read_sets(self, set_name: BaseSet) -> dict[BaseSet, list[RowExampleT]]:
        """Reads the file of a set, and before it its possible labels.

        Returns:
            {set name: examples}: both sets of --data_file, or only `set_name`.
        """
        if set_name == "train" or self._data_file_options.data_file:
            return self._read_training_file()
        labels = self.read_labels()
        examples = self._read_file(
            self._find_file(set_name), set_name, labels, keeps_rows=True
        )
        return {set_name: examples}

    def _read_labels_of_rows(self) -> list[str]:
        """Returns the labels that the rows of the training file name.

        The first call reads the file, unless the processor holds its sets.

        Raises:
            OSError: the file does not exist, or cannot be read.
            ValueError: the file is malformed, or names too few labels.
        """
        if self._labels_of_rows is None:
            train = self.read("train")
            # The dev set of the same file may have more labels.
            dev = self.read("dev") if self._data_file_options.data_file else []
            self._labels_of_rows = self._collect_labels(train, dev)
            self._log_labels(self._labels_of_rows, train, dev)
        return self._labels_of_rows

    def _read_training_file(self) -> dict[BaseSet, list[RowExampleT]]:
        """Reads the train set of the folder, or splits --data_file.

        Returns {set name: examples}, with the dev set of --data_file.
        """
        if data_file := self._data_file_options.data_file:
            return self._split_data_file(data_file)
        # No file shows the rows of a train set.
        examples = self._read_file(
            self._find_file("train"),
            "train",
            self._labels_of_flags,
            keeps_rows=False,
        )
        return {"train": examples}

    def _split_data_file(self, path: str) -> dict[BaseSet, list[RowExampleT]]:
        """Reads --data_file, splits it into two sets, and logs their sizes.

        Returns {"train" and "dev": examples}.
        """
        # Until the split, nothing tells which rows are in the train set.
        examples = self._read_file(
            path, "train", self._labels_of_flags, keeps_rows=True
        )
        train, dev = data_file_split.split_examples(
            path,
            examples,
            self.keys_of(examples),
            self._data_file_options.dev_fraction,
        )
        data_file_split.log_sizes(path, train, dev)
        data_file_split.log_labels(
            path, self._count_labels(train), self._count_labels(dev)
        )
        return {
            "train": [example.without_row() for example in train],
            "dev": dev,
        }

    def _count_labels(
        self, examples: Iterable[RowExampleT]
    ) -> collections.Counter[str]:
        labels = map(self.labels_of, examples)
        return collections.Counter(itertools.chain.from_iterable(labels))

    def _find_file(self, set_name: BaseSet) -> str:
        """Returns the path of a set in the folder.

        Raises:
            FileNotFoundError: the folder contains no file of the set.
            ValueError: it contains several files.
        """
        return find_set_file(self._source, set_name, self.file_names[set_name])

    @abc.abstractmethod
    def _read_file(
        self,
        path: StrPath,
        set_name: BaseSet,
        labels: Sequence[str] | None,
        *,
        keeps_rows: bool,
    ) -> list[RowExampleT]:
        """Reads the set `set_name` from a file, for `read`.

        Args:
            path: a file of the data folder, or --data_file.
            set_name: "train", "dev" or "test". --data_file is a train set.
            labels: the labels that the rows may have. None = any, because the
                rows name them, or the task is a regression.
            keeps_rows: whether the examples contain their rows. False leaves
                out the rows of a train set, which no file shows.

        Raises:
            OSError: the file cannot be read.
            ValueError: a line is malformed. The message names it.
        """

    @abc.abstractmethod
    def _collect_labels(
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

    def _log_labels(
        self,
        labels: Sequence[str],
        train: Sequence[RowExampleT],
        dev: Sequence[RowExampleT],
    ) -> None:
        """Logs what users should know of labels that rows name: nothing here.

        The arguments are what `_collect_labels` returns and takes.
        """

    @abc.abstractmethod
    def texts_of(self, example: RowExampleT) -> Sequence[str]:
        """Returns the texts that form the input for an example."""

    @abc.abstractmethod
    def labels_of(self, example: RowExampleT) -> Sequence[str]:
        """Returns labels to count in both sets, [] if there are none."""

    @property
    @abc.abstractmethod
    def key_names(self) -> list[str]:
        """Names of what the keys consist of, such as columns, sorted."""

    def key_texts(self, example: RowExampleT) -> Sequence[str]:
        """Returns the texts that decide which set an example is in."""
        return self.texts_of(example)

    def keys_of(self, examples: Sequence[RowExampleT]) -> list[str]:
        """Returns the key of each example. Equal keys are in the same set."""
        return [key_of(self.key_texts(example)) for example in examples]
