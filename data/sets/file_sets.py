"""Reads the sets of a task, from a folder or from a single file.

A single file is split into a train set and a dev set. text_keys.py decides in
which of the two a row is.
"""

import collections
import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

from absl import logging

from data.sets.data_file_options import DataFileOptions
from data.sets.example_reader import ExampleReader, RowExampleT, SetFile
from data.sets.held_sets import HeldSets
from data.sets.repeated_texts import RepeatedTexts
from data.sets.set_names import BaseSet, find_set_file
from data.sets.text_keys import split_fraction_of
from files.paths import StrPath
from model_folders.labels import join_labels

T = TypeVar("T")


class FileSets(HeldSets[RowExampleT]):
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
    set.

    Examples:
        `sets` are those of --data_file:

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
        return [*self._labels] or None

    @functools.cached_property
    def _labels(self) -> Sequence[str]:
        """The labels of the task, () if it has none.

        Unless flags name them, the first use reads the training file.
        """
        if self.reader.labels_of_flags is not None:
            return self.reader.labels_of_flags
        # The dev set of --data_file may have more labels than its train set.
        # Both are held, so that the file is read only once.
        train = self.read("train")
        dev = self.read("dev") if self._data_file else []
        return self.reader.collect_labels(
            self._data_file or self._data_dir, train, dev
        )

    def read_sets(
        self, set_name: BaseSet
    ) -> Mapping[BaseSet, list[RowExampleT]]:
        """Reads a set of the folder, or both sets of --data_file.

        For texts that are in two sets of a folder, the function logs a warning.
        """
        if self._data_file and set_name != "test":
            return self._read_data_file(self._data_file)
        if set_name == "train":
            labels = self.reader.labels_of_flags or ()
        else:
            # These rows may have no other labels. If the rows of the train set
            # name them, this reads the train set first.
            labels = self._labels
        return {set_name: self._read_file_of_folder(set_name, labels)}

    def _read_data_file(self, path: str) -> dict[BaseSet, list[RowExampleT]]:
        """Returns the train set and the dev set of a file, and logs both."""
        examples = self.reader.read_file(
            SetFile(
                path,
                "train",
                source=path,
                labels=self.reader.labels_of_flags or (),
                is_data_file=True,
            )
        )
        keys = self.reader.keys_of(examples)
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
        self, set_name: BaseSet, labels: Sequence[str]
    ) -> list[RowExampleT]:
        """Reads a set of the folder.

        `labels` are those that its rows may have, () if any label is valid.
        """
        path = find_set_file(
            self._data_dir, set_name, self.reader.file_names[set_name]
        )
        examples = self.reader.read_file(
            SetFile(path, set_name, source=self._data_dir, labels=labels)
        )
        if self._repeated_texts and set_name != "test":
            keys = self.reader.keys_of(examples)
            self._repeated_texts.add(set_name, path, keys)
        return examples

    def _count_labels(
        self, examples: Sequence[RowExampleT]
    ) -> collections.Counter[str]:
        labels = map(self.reader.labels_of, examples)
        return collections.Counter(itertools.chain.from_iterable(labels))


def split_examples(
    path: str, examples: Sequence[T], keys: Sequence[str], fraction: float
) -> tuple[list[T], list[T]]:
    """Returns the train set and the dev set of a file.

    Args:
        path: value of --data_file, for the error.
        examples: the examples of all its rows.
        keys: key of each example. Equal keys are in the same set.
        fraction: value of --dev_fraction.

    Raises:
        ValueError: one of the sets is empty.
    """
    train: list[T] = []
    dev: list[T] = []
    for example, key in zip(examples, keys, strict=True):
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
    return train, dev


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
        join_labels(descriptions),
    )
    lacks = [
        f"the {name} set has none of {join_labels(missing)}"
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
