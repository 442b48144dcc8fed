"""Adapts the start of a command to the rows of its --data_file.

This module imports no TensorFlow.
"""

from typing import Any

from absl import logging

from command_line import config_values
from data.tables.dev_split import SetReader
from training.fine_tuning_config import DataFileConfigT
from training.start import Start
from training.trained_rows import add_table_split


def adapt_to_table(
    start: Start[DataFileConfigT],
    reader: SetReader[Any, Any],
    given: frozenset[str],
    may_set_flags: bool = True,
) -> Start[DataFileConfigT]:
    """Returns the start with the split of --data_file, and flags that suit it.

    A command without --data_file starts as it is. Logs a warning if the weights
    may have been trained on rows of the dev set.

    Args:
        start: what the command starts from.
        reader: reader of --data_file.
        given: names of the flags that the user set.
        may_set_flags: whether the length and the epochs may follow the rows.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    start = add_table_split(start, reader)
    return adapt_to_rows(start, reader, given) if may_set_flags else start


def adapt_to_rows(
    start: Start[DataFileConfigT],
    reader: SetReader[Any, Any],
    given: frozenset[str],
) -> Start[DataFileConfigT]:
    """Returns the start with a length and epochs that suit --data_file.

    Flags stay that the user set, or that the run began with.

    Args:
        start: what the command starts from.
        reader: reader of --data_file.
        given: names of the flags that the user set.

    Raises:
        ValueError: the file is malformed.
        OSError: the file cannot be read.
    """
    config = start.config
    if not (config.data_file and config.training.do_train):
        return start
    unset = config_values.unset_names(config, given)
    suitable: dict[str, float] = {}
    if "num_train_epochs" in unset:
        suitable["num_train_epochs"] = reader.suitable_epochs(
            config.training.train_batch_size,
            config.fine_tuning.num_train_epochs,
        )
    if "max_seq_length" in unset:
        suitable["max_seq_length"] = reader.suitable_length(
            start.required_tokenizer, start.bert_config.max_position_embeddings
        )
    if not suitable:
        return start
    logging.info(
        "Set to suit most examples:%s",
        "".join(f" --{name}={value:g}" for name, value in suitable.items()),
    )
    return start.with_flags(**suitable)
