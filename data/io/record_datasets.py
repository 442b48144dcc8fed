"""Reads TFRecord files as batches of tensors, in a repeatable order.

`check_records` finds a record that does not fit before the model is built, and
`explain_record_errors` later. B = batch size.
"""

import contextlib
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import tensorflow as tf
from absl import logging

from data.io.feature_specs import RecordSpec
from data.io.tf_examples import feature_lengths
from data.io.tfrecords import count_records, read_records
from data.padding import trim_batch

# In training: number of records in the shuffle buffer.
SHUFFLE_BUFFER_SIZE = 10000
# In training: number of files that are read at the same time.
_NUM_PARALLEL_READS = 8
# Number of batches to parse in parallel, and number of parsed batches to keep
# ready for the model.
_NUM_PARSERS = min(os.cpu_count() or 1, 16)
_BATCHES_AHEAD = 4
# Message of `decode_batch` about a record that it cannot use.
OUT_OF_RANGE = "a record has a value out of its range"
# TensorFlow's errors about a wrong record contain one of these texts: the
# message of `decode_batch`, or the name of the operation that parses records.
_WRONG_RECORD_MESSAGES = (OUT_OF_RANGE, "ParseExample")
# Number of records to check at the start of each file.
_NUM_CHECKED_RECORDS = 16


class Masking(Protocol):
    """Masks records while they are read, as `DynamicMasking` does."""

    def draw(self, record_index: tf.Tensor, max_seq_length: int) -> tf.Tensor:
        """Draws the random numbers for the record with this number."""

    def __call__(
        self, features: dict[str, tf.Tensor], draws: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Masks a batch of records with the random numbers of `draw`."""


class Records(NamedTuple):
    """TFRecord files with the same features, and how to parse and mask them.

    Attributes:
        files: paths of the files.
        spec: {name: feature_specs.FeatureSpec} of the records.
        dynamic_masking: masks the records while they are read, with new masks
            in each epoch of training. None for records that contain masks, or
            that are not for pretraining.
    """

    files: Sequence[str]
    spec: RecordSpec
    dynamic_masking: Masking | None = None


def are_masked(files: Sequence[str]) -> bool:
    """Returns whether pretraining records contain masks.

    Records that create_pretraining_data.py wrote with --dynamic_masking contain
    no masks. The function reads only the first record.

    To read records without masks, training needs a vocabulary. Files that are
    empty, or that contain no records for pretraining, count as masked. So the
    user is not asked for a vocabulary that would not help, and
    `check_records` says what is wrong with the files.
    """
    all_records = itertools.chain.from_iterable(map(read_records, files))
    try:
        names = {*feature_lengths(next(all_records, b""))}
    except ValueError:
        names = set()
    is_unmasked = "input_ids" in names and "masked_lm_positions" not in names
    return not is_unmasked


# Turn Autograph off, because it finds nothing to convert in this function, and
# searching costs time.
@tf.autograph.experimental.do_not_convert
def create_dataset(
    records: Records,
    batch_size: int,
    *,
    is_training: bool,
    seed: int = 0,
    skip_records: int = 0,
    trims_padding: bool = False,
) -> tf.data.Dataset[dict[str, tf.Tensor]]:
    """Creates a dataset of batches from TFRecord files.

    In training the records repeat without end, epoch after epoch. The order
    of the files and of the records differs from epoch to epoch and depends
    only on `seed` and the epoch. So a run that stopped after n records resumes
    exactly with `skip_records=n`. If `is_training` is False, the dataset
    contains each record once, in the order of the files. Its last batch may be
    smaller.

    Args:
        records: the files, and how to parse and mask their records.
        batch_size: number of records in a batch, B.
        is_training: whether to shuffle and repeat the records.
        seed: number that determines the order in training.
        skip_records: number of records to skip at the start. In training,
            complete epochs are skipped without reading their records.
        trims_padding: whether to trim each batch to its longest sequence,
            rounded up to a multiple of 16.

    Returns:
        tf.data.Dataset of dicts {name: tensor [B, ...]} from `decode_batch`.

    Raises:
        ValueError: a file is truncated or corrupt. Only training with
            `skip_records` raises this, because it counts the records.
    """
    # Of records, or of pairs (record, random draws).
    dataset: (
        tf.data.Dataset[tf.Tensor]
        | tf.data.Dataset[tuple[tf.Tensor, tf.Tensor]]
    )
    if is_training:
        dataset = _create_training_records(records.files, seed, skip_records)
    else:
        dataset = tf.data.TFRecordDataset(records.files).skip(skip_records)
    if records.dynamic_masking is not None:
        length = records.spec["input_ids"].shape[0]
        dataset = _add_draws(
            dataset.enumerate(skip_records), records.dynamic_masking, length
        )

    def parse(
        serialized: tf.Tensor, draws: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        features = decode_batch(serialized, records.spec)
        if records.dynamic_masking is not None and draws is not None:
            features = records.dynamic_masking(features, draws)
        return trim_batch(features) if trims_padding else features

    # Turn autotuning off. With it on, finding the end of a dataset sometimes
    # took as long as reading the whole dataset.
    options = tf.data.Options()
    options.autotune.enabled = False
    # Batch before parsing, because parsing a whole batch at once is much faster
    # than parsing each record.
    return (
        dataset.batch(batch_size, drop_remainder=is_training)
        .map(parse, num_parallel_calls=_NUM_PARSERS)
        .prefetch(_BATCHES_AHEAD)
        .with_options(options)
    )


def _add_draws(
    numbered: tf.data.Dataset[tuple[tf.Tensor, tf.Tensor]],
    masking: Masking,
    length: int,
) -> tf.data.Dataset[tuple[tf.Tensor, tf.Tensor]]:
    """Returns a dataset of (record, random draws for its number)."""
    return numbered.map(
        lambda record_index, record: (
            record,
            masking.draw(record_index, length),
        )
    )


def _create_training_records(
    files: Sequence[str], seed: int, skip_records: int
) -> tf.data.Dataset[tf.Tensor]:
    """Returns a shuffled, endless dataset without its first `skip_records`."""

    def read_epoch(epoch: tf.Tensor) -> tf.data.Dataset[tf.Tensor]:
        draw = tf.random.stateless_uniform(
            [], [seed, epoch], 0, tf.int64.max, tf.int64
        )
        order = tf.random.experimental.stateless_shuffle(files, [seed, epoch])
        num_reads = min(_NUM_PARALLEL_READS, len(files))
        return (
            tf.data.Dataset.from_tensor_slices(order)
            .interleave(
                tf.data.TFRecordDataset,
                cycle_length=num_reads,
                block_length=16,
                num_parallel_calls=num_reads,
                deterministic=True,
            )
            .shuffle(SHUFFLE_BUFFER_SIZE, draw, reshuffle_each_iteration=False)
        )

    epoch, rest = 0, 0
    if skip_records:
        epoch, rest = divmod(skip_records, count_records(files))
    return tf.data.Dataset.counter(epoch).flat_map(read_epoch).skip(rest)


def decode_batch(
    serialized: tf.Tensor, spec: RecordSpec
) -> dict[str, tf.Tensor]:
    """Parses a batch of serialized `tf.train.Example`s, string [B].

    Returns:
        {name: tensor [B, ...]}. Integers are int32.

    Raises:
        tf.errors.InvalidArgumentError: a record does not fit the spec. Use
            `explain_record_errors` to find out which record.
    """
    values = parse_features(serialized, spec)
    are_right = [is_right for _, is_right in compare_with_spec(values, spec)]
    check = tf.debugging.Assert(tf.reduce_all(are_right), [OUT_OF_RANGE])
    with tf.control_dependencies([check]):
        return {
            name: tf.cast(value, tf.int32)
            if value.dtype == tf.int64
            else tf.identity(value)
            for name, value in values.items()
        }


def parse_features(
    serialized: tf.Tensor, spec: RecordSpec
) -> dict[str, tf.Tensor]:
    """Parses a batch of serialized records, string [B], and checks no values.

    Returns:
        {name: tensor [B, ...]}. Integers are int64.

    Raises:
        tf.errors.InvalidArgumentError: a record lacks a feature of the spec, or
            a feature has another type or number of values.
    """
    features = {
        name: tf.io.FixedLenFeature(feature.shape, tf.as_dtype(feature.dtype))
        for name, feature in spec.items()
    }
    return tf.io.parse_example(serialized, features)


def compare_with_spec(
    values: dict[str, tf.Tensor], spec: RecordSpec
) -> Iterator[tuple[str, tf.Tensor]]:
    """Yields (problem, whether a batch is free of it).

    Compares before the integers become int32, which turns 2 ** 32 into 0.
    """
    for name, value in values.items():
        low, high = spec[name].at_least, spec[name].at_most
        is_right = tf.constant(True)
        # Both comparisons are false for NaN.
        if math.isfinite(low):
            is_right &= tf.reduce_all(value >= tf.cast(low, value.dtype))
        if math.isfinite(high):
            is_right &= tf.reduce_all(value <= tf.cast(high, value.dtype))
        yield f"'{name}' is not from {low:g} to {high:g}", is_right
    if "input_mask" in values:
        is_used = tf.reduce_any(values["input_mask"] > 0, axis=-1)
        if "is_real_example" in values:
            # Google's code fills the last batch with padding examples, whose
            # mask is 0 at each position.
            is_padding = values["is_real_example"] == 0
            shape = [-1, *[1] * (is_used.shape.rank - 1)]
            is_used |= tf.reshape(is_padding, shape)
        yield "'input_mask' is 0 at each position", tf.reduce_all(is_used)


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
    for path, record_index, record in _read_first_records(files, limit):
        is_empty = False
        if problem := _describe_problem(record, spec):
            raise ValueError(
                f"{path}, record {record_index}: {problem}. Create the records "
                "with this vocabulary and --max_seq_length, and set "
                "vocab_size in the configuration to its number of lines"
            )
    if is_empty:
        raise ValueError(f"no record in {', '.join(files)}")


def _read_first_records(
    files: Sequence[str], limit: int | None
) -> Iterator[tuple[str, int, bytes]]:
    """Yields (path, index in the file, record), `limit` from each file."""
    for path in files:
        limited = itertools.islice(read_records(path), limit)
        for record_index, record in enumerate(limited):
            yield path, record_index, record


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
