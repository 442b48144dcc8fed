"""Examples in TFRecords, against those of protocol buffers."""

import pytest
import tensorflow as tf

from data.io import tf_examples


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 127, 128, 16383, 16384, 30521, 119546, 1 << 40], "int64_list"),
        ([0], "int64_list"),
        ([], "int64_list"),
        ([1.0, 0.0, 0.5], "float_list"),
    ],
)
def test_tensorflow_parses_the_values_of_a_feature(values, kind):
    encoded = tf_examples.encode_example({"name": values, "other": [1]})
    features = tf.train.Example.FromString(encoded).features.feature
    assert {*features} == {"name", "other"}
    assert getattr(features["name"], kind).value == values


OURS = tf_examples.encode_example({"a": [1, 300], "b": [0.5], "c": b"\x01"})


def test_lengths_of_features_are_those_of_tensorflow():
    lists = {
        "ints": tf.train.Feature(
            int64_list=tf.train.Int64List(value=[0, 127, 128, 1 << 40, -1])
        ),
        "floats": tf.train.Feature(
            float_list=tf.train.FloatList(value=[0.5, 1.0, 0.0])
        ),
        "texts": tf.train.Feature(
            bytes_list=tf.train.BytesList(value=[b"a", b"bc"])
        ),
        "none": tf.train.Feature(),
    }
    example = tf.train.Example(features=tf.train.Features(feature=lists))
    assert tf_examples.feature_lengths(example.SerializeToString()) == {
        "ints": 5,
        "floats": 3,
        "texts": 2,
        "none": 0,
    }
    assert tf_examples.feature_lengths(OURS) == {"a": 2, "b": 1, "c": 1}


@pytest.mark.parametrize(
    "wrong", [b"some text, long enough", OURS[:-2], b"\xff\xff"]
)
def test_a_record_that_is_not_an_example_has_no_lengths(wrong):
    with pytest.raises(ValueError, match=r"tf\.train\.Example"):
        tf_examples.feature_lengths(wrong)
