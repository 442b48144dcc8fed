"""Splits the examples of one file into a train set and a dev set."""

import abc
import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

from absl import logging

from data.io.set_cache import CachingReader
from data.io.split_names import SETS, Purpose, SetName
from data.io.text_files import find_set_file
from data.tables.data_file_options import DataFileOptions
from data.tables.row_keys import key_of, split_fraction_of
from files.paths import StrPath
from model_folders.labels import first_labels


class Example(Protocol):
    """An example of a set.

    Attributes:
        row: {column: cell} of the example's row of the file, or None.
    """

    row: Mapping[str, object] | None


ExampleT = TypeVar("ExampleT", bound=Example)
OptionsT = TypeVar("OptionsT")


class SetReader(CachingReader[ExampleT], Generic[ExampleT, OptionsT]):
    """Reads the sets of a data folder, or splits --data_file into two sets.

    The attribute `row` of an example is its row of the file, or None in a train
    set. `file_names` are the names that the file of each set may have.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data: flags of --data_file.
        options: options for reading the files.
    """

    file_names: ClassVar[Mapping[SetName, Sequence[str]]]

    def __init__(
        self,
        data_dir: StrPath | None,
        data: DataFileOptions,
        options: OptionsT,
    ) -> None:
        super().__init__()
        self._source = data.data_file or data_dir
        self._data = data
        self._options = options

    @abc.abstractmethod
    def labels(self) -> list[str] | None:
        """Returns the labels of the task, in order, or None in regression."""

    def load(self, purpose: Purpose) -> dict[Purpose, list[ExampleT]]:
        """Reads a set from its file, or splits --data_file.

        Returns:
            {purpose: examples}: both sets of --data_file, or only `purpose`.

        Raises:
            OSError: a file cannot be read.
            ValueError: a line is malformed. The message names it.
        """
        if self._data.data_file:
            train, dev = self._split_file(self._data.data_file)
            sets: dict[Purpose, list[ExampleT]] = {"train": train, "eval": dev}
        else:
            name = SETS[purpose]
            path = find_set_file(self._source, name, self.file_names[name])
            sets = {purpose: self.read_file(path, name)}
        # Free the memory of rows that were read before the set was known.
        for example in sets.get("train", ()):
            example.row = None
        return sets

    def keeps_rows(self, set_name: SetName) -> bool:
        """Returns whether examples that `read_file` returns need their rows.

        No file shows the rows of a train set. But --data_file, which is read as
        the train set, contains the rows of the dev set too.
        """
        return set_name != "train" or bool(self._data.data_file)

    def _split_file(self, path: str) -> tuple[list[ExampleT], list[ExampleT]]:
        """Returns the train set and the dev set."""
        fraction = self._data.dev_fraction
        examples = self.read_file(path, "train")
        train: list[ExampleT] = []
        dev: list[ExampleT] = []
        for example, key in zip(examples, self.keys_of(examples), strict=True):
            is_dev = split_fraction_of(key) < fraction
            (dev if is_dev else train).append(example)
        for name, set_examples in (("train", train), ("dev", dev)):
            if not set_examples:
                raise ValueError(
                    f"{path}: with --dev_fraction={fraction:g}, none of the "
                    f"{len(examples)} rows is in the {name} set. Add rows, set "
                    "another --dev_fraction, or make the sets yourself "
                    "(--data_dir)"
                )
        logging.info(
            "%s: %d examples to train on, %d for the dev set",
            path,
            len(train),
            len(dev),
        )
        self._log_labels(path, train, dev)
        return train, dev

    def _log_labels(
        self,
        path: str,
        train_set: Sequence[ExampleT],
        dev_set: Sequence[ExampleT],
    ) -> None:
        """Logs how many rows of each label are in the two sets.

        Warns of labels that one of the sets lacks.
        """
        train = self._count_labels(train_set)
        dev = self._count_labels(dev_set)
        labels = sorted(train | dev)
        if not labels:
            return
        counts = [f"{label} {train[label]} + {dev[label]}" for label in labels]
        logging.info(
            "Labels to train on and in the dev set: %s", first_labels(counts)
        )
        lacks = []
        for name, set_counts in (("dev", dev), ("train", train)):
            missing = [label for label in labels if not set_counts[label]]
            if missing:
                lacks.append(
                    f"the {name} set has none of {first_labels(missing)}"
                )
        if lacks:
            logging.warning(
                "%s: %s. Add rows of these labels, or make the sets yourself "
                "(--data_dir).",
                path,
                ", and ".join(lacks),
            )

    def _count_labels(
        self, examples: Iterable[ExampleT]
    ) -> collections.Counter[str]:
        labels = map(self.labels_of, examples)
        return collections.Counter(itertools.chain.from_iterable(labels))

    @abc.abstractmethod
    def read_file(self, path: StrPath, set_name: SetName) -> list[ExampleT]:
        """Reads the set `set_name` from a file.

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
