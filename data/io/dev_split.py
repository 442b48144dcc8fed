"""Splits the examples of one file into a train set and a dev set."""

import abc
import collections
import dataclasses
import itertools
import math
import random
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from absl import logging

from command_line import flags
from data.io.text_files import SETS, find_set_file
from data.text.tokenization import FullTokenizer
from files.paths import Kind, StrPath


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataFileOptions:
    """Flags of scripts that split a single file of examples themselves."""

    data_file: str | None = flags.training(
        None,
        "One file of labeled examples, instead of --data_dir. The script "
        "splits it, trains, evaluates each epoch, reports, and exports the "
        "best step to OUTPUT_DIR_model, unless your flags say otherwise. By "
        "default, --do_train and --do_eval are then True.",
        kind=Kind.INPUT_FILE,
    )
    dev_fraction: float = flags.training(
        0.2,
        "Fraction of --data_file to evaluate on.",
        at_least=0.01,
        at_most=0.9,
    )
    # The flag --seed of the training.
    seed: int = 12345


class Example(Protocol):
    """An example of a set.

    Attributes:
        row: {column: cell} of the example's row of the file, or None.
    """

    row: Mapping[str, Any] | None


ExampleT = TypeVar("ExampleT", bound=Example)
OptionsT = TypeVar("OptionsT")


class Reader(Protocol):
    """Reads the examples of a task. A split is read at most once."""

    def labels(self) -> Sequence[str] | None:
        """Returns the labels in the order of the model's outputs, or None.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is malformed.
        """

    def read(self, split: str) -> Sequence[Any] | None:
        """Returns the examples of a split, None if the split is missing.

        Args:
            split: "train", "eval" or "predict". A second split of a purpose has
                a suffix, such as "eval_mm".

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is malformed. The message names the line.
        """


class SetReader(abc.ABC, Generic[ExampleT, OptionsT]):
    """Reads the sets of a data folder, or splits --data_file into two sets.

    The attribute `row` of an example is its row of the file. `read` sets it to
    None in a train set. `file_names` are the names that the file of each set
    may have.

    Args:
        data_dir: value of --data_dir, None with --data_file.
        data: flags of --data_file.
        options: options for reading the files.
    """

    file_names: ClassVar[Mapping[str, Sequence[str]]]

    def __init__(
        self,
        data_dir: StrPath | None,
        data: DataFileOptions,
        options: OptionsT,
    ) -> None:
        self._source = data.data_file or data_dir
        self._data = data
        self._options = options
        # {name of a set that was read to look at it: its examples}
        self._sets: dict[str, list[ExampleT]] = {}

    @abc.abstractmethod
    def labels(self) -> list[str] | None:
        """Returns the labels of the task, in order, or None in regression."""

    def read(self, split: str) -> list[ExampleT]:
        """Reads the split "train", "eval" or "predict".

        Raises an OSError if a file cannot be read, and a ValueError that names
        the line if a line is malformed.
        """
        name = SETS[split]
        if name not in self._sets and self._data.data_file:
            self._split_file(self._data.data_file)
        elif name not in self._sets:
            path = find_set_file(self._source, name, self.file_names[name])
            self._sets[name] = self.read_file(path, name)
        examples = self._sets.pop(name)
        if split == "train":
            for example in examples:
                example.row = None
        return examples

    def look_at(self, split: str) -> list[ExampleT]:
        """Reads a split, which the next call of `read` then returns."""
        examples = self.read(split)
        self._sets[SETS[split]] = examples
        return examples

    def _split_file(self, path: str) -> None:
        examples = self.read_file(path, "train")
        labels = [self.labels_of(example) for example in examples]
        counts = collections.Counter(itertools.chain(*labels))
        train_rows, dev_rows = split_rows(
            [self.split_key(example) for example in examples],
            # The rarest label of each example.
            [min(each, key=counts.__getitem__, default="") for each in labels],
            self._data.dev_fraction,
            self._data.seed,
        )
        self._sets["train"] = [examples[row] for row in train_rows]
        self._sets["dev"] = [examples[row] for row in dev_rows]
        logging.info(
            "%s: %d examples to train on, %d for the dev set",
            path,
            len(train_rows),
            len(dev_rows),
        )

    def suitable_epochs(self, batch_size: int, fewest: float) -> float:
        """Returns the number of epochs that suits the train set.

        A small set is read more often than `fewest` times, for 100 steps, but
        at most 20 times.
        """
        epochs = math.ceil(100 * batch_size / len(self.look_at("train")))
        return max(fewest, min(epochs, 20.0))

    def suitable_length(self, tokenizer: FullTokenizer, longest: int) -> int:
        """Returns the input length that suits the train set, in WordPieces.

        It is the 95th percentile of the lengths of the examples, but at most
        512 and `longest`, the model's number of positions.
        """
        train = self.look_at("train")
        lengths = [
            sum(len(tokenizer.tokenize(x)) + 1 for x in self.texts_of(each))
            for each in train[:: -(-len(train) // 10_000)]
        ]
        length = max(int(np.percentile(lengths, 95)) + 1, 8)
        return min(length, longest, 512)

    @abc.abstractmethod
    def read_file(self, path: StrPath, name: str) -> list[ExampleT]:
        """Reads the set `name` from a file."""

    @abc.abstractmethod
    def texts_of(self, example: ExampleT) -> Sequence[str]:
        """Returns the texts that form the input for an example."""

    @abc.abstractmethod
    def labels_of(self, example: ExampleT) -> Sequence[str]:
        """Returns labels of which each set gets the same fraction."""

    def split_key(self, example: ExampleT) -> Hashable:
        """Returns the text that may not be in both sets."""
        return tuple(self.texts_of(example))


def split_rows(
    texts: Sequence[Hashable],
    labels: Sequence[Hashable],
    dev_fraction: float,
    seed: int,
) -> tuple[list[int], list[int]]:
    """Returns the indices of the rows to train on, and of the dev set's rows.

    The dev set contains the same fraction of each label's rows. Rows with the
    same text stay together, so that the dev set contains no text of the train
    set. A label with only one text is only in the train set.

    Args:
        texts: the text of each row, or whatever may not be in both sets.
        labels: the label of each row. Equal for all rows if a row has several
            labels or a number.
        dev_fraction: fraction of the rows for the dev set.
        seed: seed of the random choice.

    Raises:
        ValueError: there are too few rows for a dev set.
    """
    groups: dict[Hashable, list[int]] = {}
    for row, text in enumerate(texts):
        groups.setdefault(text, []).append(row)
    by_label: dict[Hashable, list[list[int]]] = {}
    for rows in groups.values():
        by_label.setdefault(labels[rows[0]], []).append(rows)
    dev: list[int] = []
    # Number of rows that the dev set should contain. Carry the fractions of
    # rows from one label to the next.
    due = 0.0
    for label, same_texts in by_label.items():
        random.Random(f"{seed} {label}").shuffle(same_texts)
        due += dev_fraction * sum(map(len, same_texts))
        # The first text of each label is for the train set.
        for rows in same_texts[1:]:
            if len(dev) + len(rows) / 2 <= due:
                dev += rows
    if not dev:
        raise ValueError(
            f"{len(texts)} rows are too few for a dev set of {dev_fraction:g} "
            "of them; add rows, or set --dev_fraction"
        )
    chosen = {*dev}
    train = [row for row in range(len(texts)) if row not in chosen]
    return train, sorted(dev)
