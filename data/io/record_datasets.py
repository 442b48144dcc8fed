"""Reads TFRecord files as batches of tensors, in a repeatable order.

record_checks.py finds a record that does not fit. B = batch size.
"""

import math
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import tensorflow as tf

from data.io.feature_specs import RecordSpec
from data.io.tfrecords import count_records
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
    if is_training:
        serialized = _create_training_records(records.files, seed, skip_records)
    else:
        serialized = tf.data.TFRecordDataset(records.files).skip(skip_records)
    if records.dynamic_masking is None:
        dataset = _parse_batches(
            serialized.batch(batch_size, drop_remainder=is_training),
            records.spec,
            trims_padding=trims_padding,
        )
    else:
        with_draws = _add_draws(
            serialized.enumerate(skip_records),
            records.dynamic_masking,
            length=records.spec["input_ids"].shape[0],
        )
        dataset = _parse_and_mask_batches(
            with_draws.batch(batch_size, drop_remainder=is_training),
            records.spec,
            records.dynamic_masking,
            trims_padding=trims_padding,
        )
    # Turn autotuning off. With it on, finding the end of a dataset sometimes
    # took as long as reading the whole dataset.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(_BATCHES_AHEAD).with_options(options)


# Parse batches, because parsing a whole batch at once is much faster than
# parsing each record.
def _parse_batches(
    batches: tf.data.Dataset[tf.Tensor],
    spec: RecordSpec,
    *,
    trims_padding: bool,
) -> tf.data.Dataset[dict[str, tf.Tensor]]:
    """Parses batches of serialized records, string [B]."""

    def parse(serialized: tf.Tensor) -> dict[str, tf.Tensor]:
        features = decode_batch(serialized, spec)
        return trim_batch(features) if trims_padding else features

    return batches.map(parse, num_parallel_calls=_NUM_PARSERS)


def _parse_and_mask_batches(
    batches: tf.data.Dataset[tuple[tf.Tensor, tf.Tensor]],
    spec: RecordSpec,
    masking: Masking,
    *,
    trims_padding: bool,
) -> tf.data.Dataset[dict[str, tf.Tensor]]:
    """Parses batches of (serialized records, their random draws)."""

    def parse(serialized: tf.Tensor, draws: tf.Tensor) -> dict[str, tf.Tensor]:
        features = masking(decode_batch(serialized, spec), draws)
        return trim_batch(features) if trims_padding else features

    return batches.map(parse, num_parallel_calls=_NUM_PARSERS)


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
            `record_checks.explain_record_errors` to find out which record.
    """
    values = parse_features(serialized, spec)
    are_right = [check.is_right for check in compare_with_spec(values, spec)]
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


class ValueCheck(NamedTuple):
    """The result of comparing a batch with the spec of its records.

    Attributes:
        problem: what is wrong with the batch if it does not pass the check.
        is_right: bool, whether it passes.
    """

    problem: str
    is_right: tf.Tensor


def compare_with_spec(
    values: dict[str, tf.Tensor], spec: RecordSpec
) -> Iterator[ValueCheck]:
    """Compares the values of a batch with the spec of its records.

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
        yield ValueCheck(f"'{name}' is not from {low:g} to {high:g}", is_right)
    if "input_mask" in values:
        is_used = tf.reduce_any(values["input_mask"] > 0, axis=-1)
        if "is_real_example" in values:
            # Google's code fills the last batch with padding examples, whose
            # mask is 0 at each position.
            is_padding = values["is_real_example"] == 0
            shape = [-1, *[1] * (is_used.shape.rank - 1)]
            is_used |= tf.reshape(is_padding, shape)
        yield ValueCheck(
            "'input_mask' is 0 at each position", tf.reduce_all(is_used)
        )
