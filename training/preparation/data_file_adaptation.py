"""Adapts the start of a command to the rows of its --data_file.

This module imports no TensorFlow.
"""

import dataclasses
import math

import numpy as np
from absl import logging

from command_line import config_values
from data.processors.file_processor import ExampleT, FileProcessor, OptionsT
from data.text.tokenization import FullTokenizer
from training.config.fine_tuning_config import DataFileConfigT
from training.preparation.dev_set_rule import choose_dev_set_rule
from training.preparation.starting_point import StartingPoint

# Number of steps that a run on few rows is to reach by repeating them.
_MIN_STEPS = 100
# Largest number of epochs that a run on few rows repeats them for.
_MAX_EPOCHS = 20.0
# Percentage of the examples that are not longer than the input length.
_PERCENTILE = 95
# Shortest and longest input length that is chosen, in WordPieces.
_MIN_LENGTH = 8
_MAX_LENGTH = 512
# Number of examples whose lengths tell the lengths of a set.
_MAX_TOKENIZED = 10_000


def adapt_to_data_file(
    start: StartingPoint[DataFileConfigT],
    processor: FileProcessor[ExampleT, OptionsT],
    *,
    may_set_flags: bool = True,
) -> StartingPoint[DataFileConfigT]:
    """Returns the start with the rule for --data_file, and flags that suit it.

    A command without --data_file starts as it is. Logs a warning if the weights
    may have been trained on rows of the dev set.

    Args:
        start: what the command starts from.
        processor: reads --data_file.
        may_set_flags: whether the length and the epochs may follow the rows.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    start = choose_dev_set_rule(start, processor)
    return with_suitable_flags(start, processor) if may_set_flags else start


def with_suitable_flags(
    start: StartingPoint[DataFileConfigT],
    processor: FileProcessor[ExampleT, OptionsT],
) -> StartingPoint[DataFileConfigT]:
    """Returns the start with a length and epochs that suit --data_file.

    Flags stay that the user set, or that the run began with.

    Args:
        start: what the command starts from.
        processor: reads --data_file.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    config = start.config
    if not (config.data_file and config.training.do_train):
        return start
    unset = config_values.unset_names(config, start.set_by_user)
    suitable_values = config.fine_tuning
    chosen: list[str] = []
    if "num_train_epochs" in unset:
        epochs = _choose_epochs(
            len(processor.read("train")),
            config.training.train_batch_size,
            config.fine_tuning.num_train_epochs,
        )
        suitable_values = dataclasses.replace(
            suitable_values, num_train_epochs=epochs
        )
        chosen.append(f"--num_train_epochs={epochs:g}")
    if "max_seq_length" in unset:
        length = _choose_length(
            processor,
            start.required_tokenizer,
            start.bert_config.max_position_embeddings,
        )
        suitable_values = dataclasses.replace(
            suitable_values, max_seq_length=length
        )
        chosen.append(f"--max_seq_length={length:g}")
    if not chosen:
        return start
    logging.info("Set to suit most examples: %s", " ".join(chosen))
    return dataclasses.replace(
        start, config=dataclasses.replace(config, fine_tuning=suitable_values)
    )


def _choose_epochs(
    num_examples: int, batch_size: int, min_epochs: float
) -> float:
    """Returns the number of epochs that suits a train set.

    A small set is read more often than `min_epochs` times, for `_MIN_STEPS`.
    """
    epochs = math.ceil(_MIN_STEPS * batch_size / num_examples)
    return max(min_epochs, min(epochs, _MAX_EPOCHS))


def _choose_length(
    processor: FileProcessor[ExampleT, OptionsT],
    tokenizer: FullTokenizer,
    num_positions: int,
) -> int:
    """Returns the input length that suits the train set, in WordPieces.

    `num_positions` is that of the model.
    """
    train = processor.read("train")
    step = -(-len(train) // _MAX_TOKENIZED)
    lengths = [
        sum(
            len(tokenizer.tokenize(text)) + 1
            for text in processor.texts_of(example)
        )
        for example in train[::step]
    ]
    length = max(int(np.percentile(lengths, _PERCENTILE)) + 1, _MIN_LENGTH)
    return min(length, num_positions, _MAX_LENGTH)
