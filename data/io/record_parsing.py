"""Parses serialized records, and compares their values with a spec.

B = batch size.
"""

import math
from collections.abc import Iterator

import tensorflow as tf

from data.io.feature_specs import RecordSpec

# Message of `decode_batch` about a record that it cannot use.
OUT_OF_RANGE = "a record has a value out of its range"


def decode_batch(
    serialized: tf.Tensor, spec: RecordSpec
) -> dict[str, tf.Tensor]:
    """Parses a batch of serialized `tf.train.Example`s, string [B].

    Returns:
        {name: tensor [B, ...]}. Integers are int32.

    Raises:
        tf.errors.InvalidArgumentError: a record does not fit the spec. Use
            `record_checks.named_record_errors` to find out which record.
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
    values = tf.io.parse_example(serialized, features)
    return values


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
