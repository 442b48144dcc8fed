"""Finds the record that does not fit its spec, and names its file.

`check_records` finds it before the model is built, and `explain_record_errors`
later.
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import tensorflow as tf
from absl import logging

from data.io.feature_specs import RecordSpec
from data.io.record_datasets import (
    OUT_OF_RANGE,
    Records,
    compare_with_spec,
    parse_features,
)
from data.io.tfrecords import read_records

# TensorFlow's errors about a wrong record contain one of these texts: the
# message of `decode_batch`, or the name of the operation that parses records.
_WRONG_RECORD_MESSAGES = (OUT_OF_RANGE, "ParseExample")
# Number of records to check at the start of each file.
_NUM_CHECKED_RECORDS = 16


def check_records(
    files: Sequence[str],
    spec: RecordSpec,
    limit: int | None = _NUM_CHECKED_RECORDS,
) -> None:
    """Checks the first records of each file, or all if `limit` is None.

    This function finds a wrong file before the model is built. Later,
    `decode_batch` checks each record.

    Raises:
        ValueError: all files are empty, a file is truncated or corrupt, its
            features differ from `spec` in name or length, or a value is out of
            range.
    """
    is_empty = True
    for record in _read_first_records(files, limit):
        is_empty = False
        if problem := _describe_problem(record.serialized, spec):
            raise ValueError(
                f"{record.path}, record {record.record_index}: {problem}. "
                "Create the records with this vocabulary and "
                "--max_seq_length, and set vocab_size in the configuration to "
                "its number of lines"
            )
    if is_empty:
        raise ValueError(f"no record in {', '.join(files)}")


class _Record(NamedTuple):
    """A record, and its place.

    Attributes:
        path: the file that contains it.
        record_index: its index in the file.
        serialized: the record as a tf.train.Example.
    """

    path: str
    record_index: int
    serialized: bytes


def _read_first_records(
    files: Sequence[str], limit: int | None
) -> Iterator[_Record]:
    """Yields the first `limit` records of each file, or all for None."""
    for path in files:
        limited = itertools.islice(read_records(path), limit)
        for record_index, record in enumerate(limited):
            yield _Record(path, record_index, record)


def _describe_problem(record: bytes, spec: RecordSpec) -> str | None:
    """Returns what is wrong with a serialized record, None if it is right."""
    try:
        values = parse_features(tf.constant([record]), spec)
    except tf.errors.InvalidArgumentError as error:
        return _without_operation(error.message)
    problems = [
        problem
        for problem, is_right in compare_with_spec(values, spec)
        if not is_right
    ]
    # A mask of zeros says more than the ids that it hides.
    return problems[-1] if problems else None


def _without_operation(message: str) -> str:
    """Returns an error's message without the operation at its two ends.

    TensorFlow formats it as "{{function_node ...}} MESSAGE [Op:NAME]".
    """
    return message.split("}} ")[-1].split(" [Op:")[0]


@contextlib.contextmanager
def explain_record_errors(
    records_read: Iterable[Records],
) -> Iterator[None]:
    """Adds the file and the record's index to errors about wrong records.

    TensorFlow's errors do not name them. `records_read` lists the Records that
    the code in the `with` block reads.

    Raises:
        ValueError: the block raised tf.errors.DataLossError or
            tf.errors.InvalidArgumentError because of a record.
    """
    try:
        yield
    except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
        is_corrupt = isinstance(error, tf.errors.DataLossError)
        # Search for the record only if the error is about a record, because
        # the search reads all files and is slow.
        if is_corrupt or any(
            text in error.message for text in _WRONG_RECORD_MESSAGES
        ):
            logging.info("Searching all files for the record that is wrong")
            for records in records_read:
                check_records(records.files, records.spec, limit=None)
        if is_corrupt:
            raise ValueError(str(error)) from error
        raise
