"""Serialized records as tensors, and values that are out of range."""

import pytest
import tensorflow as tf

from data.io import record_datasets
from data.io.feature_specs import FeatureSpec
from data.io.tf_examples import encode_example

SPEC = {
    "input_ids": FeatureSpec((2,), at_least=0, at_most=9),
    "weight": FeatureSpec((), "float32"),
}


def serialize(*ids, weight=0.5):
    """Returns a record of the spec."""
    return encode_example({"input_ids": [*ids], "weight": [weight]})


def test_a_batch_has_the_values_and_types_of_the_network():
    batch = record_datasets.decode_batch(
        [serialize(1, 2), serialize(3, 9)], SPEC
    )
    assert batch["input_ids"].dtype == tf.int32
    assert batch["input_ids"].numpy().tolist() == [[1, 2], [3, 9]]
    assert batch["weight"].dtype == tf.float32
    assert batch["weight"].numpy().tolist() == [0.5, 0.5]


# 2 ** 32 would be 0 as an int32.
@pytest.mark.parametrize("wrong", [10, 2**32])
def test_a_value_out_of_its_range_is_not_decoded(wrong):
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=record_datasets.OUT_OF_RANGE
    ):
        record_datasets.decode_batch([serialize(1, wrong)], SPEC)


def test_a_record_without_a_feature_is_not_parsed():
    record = encode_example({"input_ids": [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="weight"):
        record_datasets.parse_features([record], SPEC)


def test_each_value_is_compared_with_its_range():
    values = record_datasets.parse_features([serialize(1, 10)], SPEC)
    compared = {
        problem: bool(is_right)
        for problem, is_right in record_datasets.compare_with_spec(values, SPEC)
    }
    assert compared == {
        "'input_ids' is not from 0 to 9": False,
        "'weight' is not from -inf to inf": True,
    }


@pytest.mark.parametrize(
    ("is_real_example", "is_right"), [(1, False), (0, True)]
)
def test_only_padding_examples_have_a_mask_of_zeros(is_real_example, is_right):
    spec = {"input_mask": FeatureSpec((2,)), "is_real_example": FeatureSpec(())}
    record = encode_example(
        {"input_mask": [0, 0], "is_real_example": [is_real_example]}
    )
    values = record_datasets.parse_features([record], spec)
    *_, last = record_datasets.compare_with_spec(values, spec)
    assert last[0] == "'input_mask' is 0 at each position"
    assert bool(last[1]) == is_right
