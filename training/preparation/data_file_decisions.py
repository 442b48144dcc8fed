"""Lets the rows of --data_file decide open flags, and the rule of the dev set.

This module imports no TensorFlow.
"""

import dataclasses
import math

import numpy as np
from absl import logging

from data.sets.file_sets import FileSets, RowExampleT
from data.text.tokenization import FullTokenizer
from training.config.fine_tuning_config import DataFileConfigT
from training.dev_set.rules import choose_dev_set_rule, warn_of_trained_rows
from training.starting_point import StartingPoint

# Number of steps that a run on few rows should have, by reading them again.
_MIN_STEPS = 100
# Largest number of epochs that is chosen for few rows.
_MAX_EPOCHS = 20.0
# Percentage of the examples that the chosen input length does not cut.
_PERCENTILE = 95
# Shortest and longest input length that is chosen, in WordPieces.
_MIN_LENGTH = 8
_MAX_LENGTH = 512
# Largest number of examples that are tokenized to choose the length.
_MAX_TOKENIZED = 10_000


def with_dev_set_rule(
    starting_point: StartingPoint[DataFileConfigT],
    file_sets: FileSets[RowExampleT],
) -> StartingPoint[DataFileConfigT]:
    """Returns the StartingPoint with the rule that splits --data_file.

    Without --data_file, returns the StartingPoint unchanged. Logs a warning if
    the weights may have been trained on rows of the dev set. Reads no row.
    """
    if not starting_point.config.data_file:
        return starting_point
    key = tuple(file_sets.key_names)
    preset = starting_point.preset
    warn_of_trained_rows(preset, starting_point.config, key)
    dev_set_rule = choose_dev_set_rule(preset, starting_point.config, key)
    return dataclasses.replace(starting_point, dev_set_rule=dev_set_rule)


def decide_length_and_epochs(
    starting_point: StartingPoint[DataFileConfigT],
    file_sets: FileSets[RowExampleT],
) -> StartingPoint[DataFileConfigT]:
    """Returns the StartingPoint with a length and epochs for --data_file.

    Logs them. Flags that the user set, or that the run began with, stay.
    Without --data_file, or if the command does not train, returns the
    StartingPoint unchanged.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    config = starting_point.config
    data_file = config.data_file
    if not (data_file and config.training.do_train):
        return starting_point
    parsed = starting_point.parsed
    chosen: dict[str, float] = {}
    if parsed.is_open("num_train_epochs"):
        chosen["num_train_epochs"] = _choose_epochs(
            len(file_sets.read("train")),
            config.training.train_batch_size,
            config.fine_tuning.num_train_epochs,
        )
    if parsed.is_open("max_seq_length"):
        chosen["max_seq_length"] = _choose_length(
            file_sets,
            starting_point.required_tokenizer,
            starting_point.bert_config.max_position_embeddings,
        )
    if chosen:
        flags = [f"--{name}={value:g}" for name, value in chosen.items()]
        logging.info("Set to suit most examples: %s", " ".join(flags))
    parsed = parsed.decide_if_open(chosen, source=data_file)
    return dataclasses.replace(starting_point, parsed=parsed)


def _choose_epochs(
    num_examples: int, batch_size: int, min_epochs: float
) -> float:
    """Returns the number of epochs that suits a train set.

    This is `min_epochs`, or more if a small set then has fewer than
    `_MIN_STEPS` steps.
    """
    epochs = math.ceil(_MIN_STEPS * batch_size / num_examples)
    return max(min_epochs, min(epochs, _MAX_EPOCHS))


def _choose_length(
    file_sets: FileSets[RowExampleT],
    tokenizer: FullTokenizer,
    num_positions: int,
) -> int:
    """Returns the input length that suits the train set, in WordPieces.

    The length is at most `num_positions`, the number of the model's positions.
    """
    train = file_sets.read("train")
    # Tokenize every `stride`-th example of a large set.
    stride = -(-len(train) // _MAX_TOKENIZED)
    lengths = [
        sum(len(tokenizer.tokenize(text)) + 1 for text in example.texts)
        for example in train[::stride]
    ]
    length = max(int(np.percentile(lengths, _PERCENTILE)) + 1, _MIN_LENGTH)
    return min(length, num_positions, _MAX_LENGTH)
