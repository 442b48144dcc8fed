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
from data.io.text_files import find_set_file
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
    # Flags of every training script.
    seed: int = 12345
    given_flags: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Example(Protocol):
    """An example of a set.

    Attributes:
        row: {column: cell} of the example's row of the file, or None.
    """

    row: Mapping[str, Any] | None


class SuitableFlags(Protocol):
    """The flags that `SetReader.suit_flags` reads."""

    @property
    def data_file(self) -> str | None:
        """One file of labeled examples, or None."""

    @property
    def do_train(self) -> bool:
        """Whether to train."""

    @property
    def train_batch_size(self) -> int:
        """Number of examples in a batch."""

    @property
    def num_train_epochs(self) -> float:
        """Number of passes over the train set."""


ExampleT = TypeVar("ExampleT", bound=Example)
OptionsT = TypeVar("OptionsT", bound=DataFileOptions)
FlagsT = TypeVar("FlagsT", bound=SuitableFlags)


class SetReader(abc.ABC, Generic[ExampleT, OptionsT]):
    """Reads the sets of a data folder, or splits --data_file into two sets.

    `data_dir` is --data_file if it is set, else --data_dir. The attribute `row`
    of an example is its row of the file. `read_set` sets it to None in a train
    set. `file_names` are the names that the file of each set may have.
    """

    file_names: ClassVar[Mapping[str, Sequence[str]]]

    def __init__(self, data_dir: StrPath, options: OptionsT) -> None:
        self._data_dir = data_dir
        self._options = options
        # {name of a set that was read to look at it: its examples}
        self._sets: dict[str, list[ExampleT]] = {}

    def read_set(self, data_dir: StrPath, name: str) -> list[ExampleT]:
        """Reads the set `name` ("train", "dev" or "test").

        Raises an OSError if a file cannot be read, and a ValueError that names
        the line if a line is malformed.
        """
        if name not in self._sets and self._options.data_file:
            self._split_file(self._options.data_file)
        elif name not in self._sets:
            path = find_set_file(data_dir, name, self.file_names[name])
            self._sets[name] = self.read_file(path, name)
        examples = self._sets.pop(name)
        if name == "train":
            for example in examples:
                example.row = None
        return examples

    def look_at(self, name: str) -> list[ExampleT]:
        """Reads a set, which the next call of `read_set` then returns."""
        self._sets[name] = self.read_set(self._data_dir, name)
        return self._sets[name]

    def _split_file(self, path: str) -> None:
        examples = self.read_file(path, "train")
        labels = [self.labels_of(example) for example in examples]
        counts = collections.Counter(itertools.chain(*labels))
        train_rows, dev_rows = split_rows(
            [self.split_key(example) for example in examples],
            # The rarest label of each example.
            [min(each, key=counts.__getitem__, default="") for each in labels],
            self._options.dev_fraction,
            self._options.seed,
        )
        self._sets["train"] = [examples[row] for row in train_rows]
        self._sets["dev"] = [examples[row] for row in dev_rows]
        logging.info(
            "%s: %d examples to train on, %d for the dev set",
            path,
            len(train_rows),
            len(dev_rows),
        )

    def suit_flags(
        self, options: FlagsT, tokenizer: FullTokenizer, longest: int
    ) -> FlagsT:
        """Returns the flags with a length and epochs that suit --data_file.

        The length of the input is the 95th percentile of the lengths of the
        train set, but at most 512 and `longest`, the model's number of
        positions. A small set is read more often than --num_train_epochs, for
        100 steps, but at most 20 times. Flags stay that the user set, or that
        the run began with.
        """
        config: Any = options  # A dataclass, which a Protocol cannot require.
        unset = flags.unset(config) & {"num_train_epochs", "max_seq_length"}
        if not (unset and options.data_file and options.do_train):
            return options
        train = self.look_at("train")
        suitable: dict[str, Any] = {}
        if "num_train_epochs" in unset:
            epochs = math.ceil(100 * options.train_batch_size / len(train))
            fewest = options.num_train_epochs
            suitable["num_train_epochs"] = max(fewest, min(epochs, 20.0))
        if "max_seq_length" in unset:
            lengths = [
                sum(len(tokenizer.tokenize(x)) + 1 for x in self.texts_of(each))
                for each in train[:: -(-len(train) // 10_000)]
            ]
            length = max(int(np.percentile(lengths, 95)) + 1, 8)
            suitable["max_seq_length"] = min(length, longest, 512)
        shown = "".join(f" --{k}={value:g}" for k, value in suitable.items())
        logging.info("Set to suit most examples:%s", shown)
        return dataclasses.replace(config, **suitable)

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
