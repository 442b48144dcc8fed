"""Decides open flags, and the rule of the dev set, by the rows of --data_file.

This module imports no TensorFlow.
"""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from absl import logging

from data.sets.example_reader import RowExample, RowExampleT
from data.sets.held_sets import HeldSets
from data.text.tokenization import FullTokenizer
from options.parsed_command import ParsedCommand
from training.config.fine_tuning_config import DataFileConfigT
from training.config.model_config import required_value
from training.dev_set.rules import choose_dev_set_rule
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


def decide_by_rows(
    starting_point: StartingPoint[DataFileConfigT],
    sets: HeldSets[RowExampleT],
) -> StartingPoint[DataFileConfigT]:
    """Adds the flags that the rows of --data_file decide to the StartingPoint.

    The rows decide which of them are the dev set, and a length and a number of
    epochs that suit them. Flags that the user set, or that the run began with,
    stay. Without --data_file, the StartingPoint is returned unchanged.

    Logs what it decides, and a warning if the weights may have been trained on
    rows of the dev set.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    config = starting_point.config
    if not (config.data_file and sets.key_names):
        return starting_point
    choice = choose_dev_set_rule(starting_point.preset, config, sets.key_names)
    if choice.doubt:
        logging.warning(
            "Rows of this dev set may have been trained on: %s. Do not trust "
            "its scores.",
            choice.doubt,
        )
    parsed = starting_point.parsed
    if config.training.do_train and config.rows_are_inputs:
        parsed = _decide_length_and_epochs(starting_point, sets.read("train"))
    return dataclasses.replace(
        starting_point, parsed=parsed, dev_set_rule=choice.rule
    )


def _decide_length_and_epochs(
    starting_point: StartingPoint[DataFileConfigT],
    train: Sequence[RowExample],
) -> ParsedCommand[DataFileConfigT]:
    """Returns the command with a length and epochs that suit a train set."""
    parsed = starting_point.parsed
    config = parsed.config
    chosen: dict[str, float] = {}
    if parsed.is_open("num_train_epochs"):
        chosen["num_train_epochs"] = _choose_epochs(
            len(train),
            config.training.train_batch_size,
            config.fine_tuning.num_train_epochs,
        )
    if parsed.is_open("max_seq_length"):
        chosen["max_seq_length"] = _choose_length(
            train,
            starting_point.required_tokenizer,
            starting_point.bert_config.max_position_embeddings,
        )
    if chosen:
        flags = [f"--{name}={value:g}" for name, value in chosen.items()]
        logging.info("Set to suit most examples: %s", " ".join(flags))
    return parsed.decide_if_open(
        chosen, source=required_value(config.data_file)
    )


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
    train: Sequence[RowExample],
    tokenizer: FullTokenizer,
    num_positions: int,
) -> int:
    """Returns the input length that suits the train set, in WordPieces.

    The length is at most `num_positions`, the number of the model's positions.
    """
    # Tokenize every `stride`-th example of a large set.
    stride = math.ceil(len(train) / _MAX_TOKENIZED)
    lengths = [
        sum(len(tokenizer.tokenize(text)) + 1 for text in example.texts)
        for example in train[::stride]
    ]
    length = max(int(np.percentile(lengths, _PERCENTILE)) + 1, _MIN_LENGTH)
    return min(length, num_positions, _MAX_LENGTH)
