"""Reads the sets of a task, and holds them until the run takes them.

`HeldSets` is the base class. `FileSets` are sets of a data folder, or the train
set and the dev set into which a single file is split. An `ExampleReader` of the
task reads each file for them.
"""

import abc
import collections
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from absl import logging

from data.sets.data_file_options import DataFileOptions
from data.sets.example_reader import ExampleReader, RowExampleT, SetFile
from data.sets.repeated_texts import RepeatedTexts
from data.sets.set_names import BaseSet, find_set_file
from data.sets.text_keys import split_fraction_of
from files.paths import StrPath
from model_folders.labels import describe_labels

T = TypeVar("T")
ExampleT = TypeVar("ExampleT")


class HeldSets(abc.ABC, Generic[ExampleT]):
    """Reads each set of a task once, and holds it until the run takes it.

    A command needs a set several times before it trains, for example to collect
    labels and then to choose a length. So that the file is read only once,
    `read` holds the set. Call `read` and `read_labels` as often and in any
    order you like. Then the run calls `take` once for each set, when it writes
    the set's records. After that, nothing is held of the set, so that its
    memory can be freed. The labels stay.

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
        # {name of a set that was read, and not taken yet: its examples}
        self._held: dict[BaseSet, list[ExampleT]] = {}
        self._taken: set[BaseSet] = set()

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
        if set_name in self._taken:
            raise RuntimeError(
                f"the run has taken the {set_name} set, which is read only once"
            )
        if set_name not in self._held:
            self._held.update(self.read_sets(set_name))
        return self._held[set_name]

    def read_all(self, set_names: Iterable[BaseSet]) -> None:
        """Reads several sets, and holds them.

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
        del self._held[set_name]
        self._taken.add(set_name)
        return examples


class FileSets(HeldSets[RowExampleT]):
    """The sets of a data folder, or the two sets of --data_file.

    They are read in this order, and each file only once:

        1. The training file, with the train set: --data_file, whose other rows
           are the dev set, or the file of the train set in the folder.
        2. The labels, which are collected from the rows of the training file.
        3. The dev set and the test set of a folder, which may contain only
           these labels.

    If flags name the labels, or if the task has no labels, then a dev set or a
    test set needs neither step 1 nor step 2.

    The attribute `row` of an example is its row of the file, or None in a train
    set.

    Examples:
        `sets` are the two sets of --data_file:

        ```python
        sets.read_labels()  # ["ham", "spam"]: reads the file, and splits it
        sets.read("dev")  # returns the dev set, which is held already
        sets.take("train")  # returns the train set, and frees its memory
        ```

    Args:
        reader: reads a file of the task.
        data_dir: value of --data_dir, None with --data_file.
        data_file_options: flags of --data_file.
        warns_of_repetitions: whether to warn if texts of the train set of a
            folder are in its dev set too.

    Attributes:
        reader: reads a file of the task.
    """

    def __init__(
        self,
        reader: ExampleReader[RowExampleT],
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        *,
        warns_of_repetitions: bool = False,
    ) -> None:
        super().__init__()
        self.reader = reader
        self._data_dir = data_dir
        self._data_file = data_file_options.data_file
        self._dev_fraction = data_file_options.dev_fraction
        self._repeated_texts = RepeatedTexts() if warns_of_repetitions else None
        # None until they were collected from the rows that name them.
        self._labels_of_rows: list[str] | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the values that decide in which set a row of a file is."""
        return tuple(self.reader.key_names)

    def read_labels(self) -> list[str] | None:
        """Returns the labels of the task, in order, or None in regression.

        If the rows name them, the first call reads the training file, unless
        its sets are held.

        Raises:
            OSError: the training file does not exist, or cannot be read.
            ValueError: it is malformed, or names too few labels.
        """
        if not self.reader.has_labels:
            return None
        if self.reader.labels_of_flags:
            return [*self.reader.labels_of_flags]
        if self._labels_of_rows is None:
            # The dev set of --data_file may have more labels than its train
            # set. Both are held, so that the file is read only once.
            train = self.read("train")
            dev = self.read("dev") if self._data_file else []
            source = self._data_file or self._data_dir
            labels = self.reader.collect_labels(source, train, dev)
            self.reader.report_labels(source, labels, train, dev)
            self._labels_of_rows = labels
        return [*self._labels_of_rows]

    def take(self, set_name: BaseSet) -> list[RowExampleT]:
        """Returns the examples of a set, and does not hold them any longer.

        The labels that its rows name are collected before, so that
        `read_labels` returns them even after all sets were taken.

        Raises:
            RuntimeError: the set was taken before.
        """
        if set_name not in self._taken:
            self.read_labels()
        return super().take(set_name)

    def read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[RowExampleT]]:
        """Reads a set of the folder, or both sets of --data_file.

        For texts that are in two sets of a folder, the function logs a warning.
        """
        if self._data_file and set_name in {"train", "dev"}:
            return self._read_data_file(self._data_file)
        if set_name == "train":
            return {"train": self._read_file_of_folder("train")}
        # Only these sets need the labels, for which the train set is read.
        labels = self.read_labels()
        return {set_name: self._read_file_of_folder(set_name, labels)}

    def _read_data_file(self, path: str) -> dict[BaseSet, list[RowExampleT]]:
        """Returns the train set and the dev set of a file, and logs both."""
        examples = self.reader.read_file(
            SetFile(
                path,
                "train",
                source=path,
                labels=self.reader.labels_of_flags,
                is_data_file=True,
            )
        )
        keys = self.reader.compute_keys(examples)
        train, dev = split_examples(path, examples, keys, self._dev_fraction)
        logging.info(
            "%s: %d examples to train on, %d for the dev set",
            path,
            len(train),
            len(dev),
        )
        _log_label_split(
            path, self._count_labels(train), self._count_labels(dev)
        )
        return {
            "train": [example.without_row() for example in train],
            "dev": dev,
        }

    def _read_file_of_folder(
        self, set_name: BaseSet, labels: Sequence[str] | None = None
    ) -> list[RowExampleT]:
        """Reads a set of the folder.

        `labels` are the labels that its rows may have. By default, these are
        the labels of flags.
        """
        path = find_set_file(
            self._data_dir, set_name, self.reader.file_names[set_name]
        )
        examples = self.reader.read_file(
            SetFile(
                path,
                set_name,
                source=self._data_dir,
                labels=labels or self.reader.labels_of_flags,
            )
        )
        if self._repeated_texts and set_name != "test":
            keys = self.reader.compute_keys(examples)
            self._repeated_texts.add(set_name, path, keys)
        return examples

    def _count_labels(
        self, examples: Sequence[RowExampleT]
    ) -> collections.Counter[str]:
        labels = map(self.reader.labels_of, examples)
        return collections.Counter(itertools.chain.from_iterable(labels))


class SplitExamples(NamedTuple, Generic[T]):
    """The examples of a file, split into two sets."""

    train: list[T]
    dev: list[T]


def split_examples(
    path: str, examples: Sequence[T], keys: Sequence[str], fraction: float
) -> SplitExamples[T]:
    """Splits the examples of a file into a train set and a dev set.

    Args:
        path: value of --data_file, for the error.
        examples: the examples of all its rows.
        keys: key of each example. Equal keys are in the same set.
        fraction: value of --dev_fraction.

    Raises:
        ValueError: one of the sets is empty.
    """
    split: SplitExamples[T] = SplitExamples([], [])
    for example, key in zip(examples, keys, strict=True):
        is_dev = split_fraction_of(key) < fraction
        (split.dev if is_dev else split.train).append(example)
    for name, set_examples in split._asdict().items():
        if not set_examples:
            raise ValueError(
                f"{path}: with --dev_fraction={fraction:g}, none of the "
                f"{len(examples)} rows is in the {name} set. Add rows, set "
                "another --dev_fraction, or make the sets yourself "
                "(--data_dir)"
            )
    return split


def _log_label_split(
    path: str, train: collections.Counter[str], dev: collections.Counter[str]
) -> None:
    """Logs how many rows of each label are in the two sets of a file.

    Warns of labels that one of the sets lacks.
    """
    labels = sorted(train | dev)
    if not labels:
        return
    descriptions = [
        f"{label} {train[label]} + {dev[label]}" for label in labels
    ]
    logging.info(
        "Labels to train on and in the dev set: %s",
        describe_labels(descriptions),
    )
    lacks = [
        f"the {name} set has none of {describe_labels(missing)}"
        for name, counts in (("dev", dev), ("train", train))
        if (missing := [label for label in labels if not counts[label]])
    ]
    if lacks:
        logging.warning(
            "%s: %s. Add rows of these labels, or make the sets yourself "
            "(--data_dir).",
            path,
            ", and ".join(lacks),
        )
