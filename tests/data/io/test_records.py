"""TFRecords, against TensorFlow's own, and damage in them."""

import gzip
import os

import pytest
import tensorflow as tf

from data.io import records, text_files, tf_examples
from tests.support.shards import create_header


def test_examples_are_those_of_protocol_buffers():
    features = {
        "ids": [0, 1, 127, 128, 16383, 16384, 30521, 119546, 1 << 40],
        "mask": [1, 1, 0],
        "weights": [1.0, 0.0, 0.5],
        "label": [0],
        "nothing": [],
    }
    parsed = tf.train.Example.FromString(tf_examples.encode_example(features))
    parsed_features = parsed.features.feature
    assert set(parsed_features) == set(features)
    for name in ("ids", "mask", "label", "nothing"):
        assert list(parsed_features[name].int64_list.value) == features[name]
    assert (
        list(parsed_features["weights"].float_list.value) == features["weights"]
    )


def test_tensorflow_reads_what_is_written_in_turn(tmp_path):
    paths = [str(tmp_path / "deep" / f"{name}.tfrecord") for name in "abc"]
    data = [bytes([number]) * (number * 50) for number in range(8)]
    with records.RecordWriter(paths) as writer:
        for record in data:
            writer.write(record)
        assert not any(map(os.path.exists, paths))
    assert writer.num_records == 8
    for index, path in enumerate(paths):
        records_read = list(tf.data.TFRecordDataset(path).as_numpy_iterator())
        assert (
            records_read == data[index::3] == list(records.read_records(path))
        )
    assert records.count_records(paths) == 8
    assert len(os.listdir(tmp_path / "deep")) == 3


def damaged(tmp_path, change):
    path = tmp_path / "damaged.tfrecord"
    with records.RecordWriter([str(path)]) as writer:
        for _ in range(3):
            writer.write(b"0123456789")
    path.write_bytes(change(path.read_bytes()))
    return str(path)


def flip(position):
    return lambda data: (
        data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
    )


def lies(length):
    """Changes the length of the second record, and its checksum."""
    return lambda data: data[:26] + create_header(length) + data[38:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:40], "byte 26"),
        (lambda data: data[:30], "byte 26"),
        (
            lambda data: b"some text, long enough to look at\n",
            "is not a TFRecord file.*create_pretraining_data.py",
        ),
        (flip(26), "byte 26"),
        # Python cannot read so much, and TensorFlow's reader crashes.
        (lies(1 << 40), "byte 26"),
        (lies((1 << 63) + 5), "byte 26"),
    ],
    ids=[
        "cut in a value",
        "cut in a length",
        "a text",
        "another bit",
        "a large length",
        "a huge length",
    ],
)
def test_damage_is_named_when_counting_and_reading(tmp_path, change, message):
    path = damaged(tmp_path, change)
    with pytest.raises(ValueError, match=message) as caught:
        records.count_records([path])
    assert path in str(caught.value)
    with pytest.raises(ValueError, match=message):
        list(records.read_records(path))


def test_a_changed_byte_is_found_when_reading(tmp_path):
    path = damaged(tmp_path, flip(40))
    assert records.count_records([path]) == 3
    assert records.count_records([path, path], 4) == 4
    with pytest.raises(ValueError, match="byte 26"):
        list(records.read_records(path))


def test_patterns_expand_in_order(tmp_path):
    for name in ("b.txt", "a.txt", "c.dat"):
        (tmp_path / name).write_text("")
    assert text_files.expand_patterns(
        f"{tmp_path}/c.dat, {tmp_path}/*.txt", "input_file"
    ) == [f"{tmp_path}/{name}" for name in ("c.dat", "a.txt", "b.txt")]


@pytest.mark.parametrize("patterns", ["{folder}/a.txt,{folder}/x*", "", None])
def test_patterns_without_a_file_are_an_error(tmp_path, patterns):
    (tmp_path / "a.txt").touch()
    if patterns:
        patterns = patterns.format(folder=tmp_path)
    with pytest.raises(FileNotFoundError, match="--input_file"):
        text_files.expand_patterns(patterns, "input_file")


def test_gzip_is_unpacked_and_damage_named(tmp_path):
    path = tmp_path / "a.txt.gz"
    # As in the original, carriage returns and zeros are within lines.
    path.write_bytes(gzip.compress("a\rb\0c\r\nd\u2028\n\n".encode() * 999))
    lines = list(text_files.read_corpus_lines(path))
    assert lines[:3] == ["a\rb\0c\r", "d\u2028", ""]
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(OSError, match=r"a\.txt\.gz"):
        list(text_files.read_corpus_lines(path))


OURS = tf_examples.encode_example({"a": [1, 300], "b": [0.5], "c": b"\x01"})


def test_lengths_of_features_are_those_of_tensorflow():
    tf = pytest.importorskip("tensorflow")
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
def test_a_record_that_is_no_example_has_no_lengths(wrong):
    with pytest.raises(ValueError, match=r"tf\.train\.Example"):
        tf_examples.feature_lengths(wrong)
