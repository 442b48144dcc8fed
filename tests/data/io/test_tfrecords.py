"""TFRecords, against TensorFlow's own, and damage in them."""

import os

import pytest
import tensorflow as tf

from data.io import tfrecords
from tests.support.shards import create_header

RECORDS = [bytes([number]) * (number * 50) for number in range(8)]


@pytest.fixture
def paths(tmp_path):
    """The files in which eight records were written in turn."""
    written = [str(tmp_path / "deep" / f"{name}.tfrecord") for name in "abc"]
    with tfrecords.RecordWriter(written) as writer:
        for record in RECORDS:
            writer.write(record)
    return written


def test_no_file_appears_before_all_records_are_written(tmp_path):
    path = tmp_path / "deep" / "a.tfrecord"
    with tfrecords.RecordWriter([str(path)]) as writer:
        writer.write(b"0123456789")
        assert not path.exists()
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_tensorflow_reads_what_is_written_in_turn(paths, index):
    read = tf.data.TFRecordDataset(paths[index]).as_numpy_iterator()
    assert [*read] == RECORDS[index::3]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_python_reads_what_is_written_in_turn(paths, index):
    assert [*tfrecords.read_records(paths[index])] == RECORDS[index::3]


def test_the_records_of_all_files_are_counted(paths):
    assert tfrecords.count_records(paths) == 8


def write_damaged_records(tmp_path, change):
    path = tmp_path / "damaged.tfrecord"
    with tfrecords.RecordWriter([str(path)]) as writer:
        for _ in range(3):
            writer.write(b"0123456789")
    path.write_bytes(change(path.read_bytes()))
    return str(path)


def flip_bit_at(position):
    return lambda data: (
        data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
    )


def with_false_length(length):
    """Changes the length of the second record, and its checksum."""
    return lambda data: data[:26] + create_header(length) + data[38:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:40], "byte 26"),
        (lambda data: data[:30], "byte 26"),
        (
            lambda data: b"some text, long enough to look at\n",
            "TFRecord.*create_pretraining_data.py",
        ),
        (flip_bit_at(26), "byte 26"),
        # Python cannot read so much, and TensorFlow's reader crashes.
        (with_false_length(1 << 40), "byte 26"),
        (with_false_length((1 << 63) + 5), "byte 26"),
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
    path = write_damaged_records(tmp_path, change)
    with pytest.raises(ValueError, match=message) as caught:
        tfrecords.count_records([path])
    assert path in str(caught.value)
    with pytest.raises(ValueError, match=message):
        list(tfrecords.read_records(path))


def test_only_the_first_records_are_checked_for_their_length(tmp_path):
    """The last of three records is cut."""
    path = write_damaged_records(tmp_path, lambda data: data[:-1])
    tfrecords.check_record_lengths([path], limit=2)
    with pytest.raises(ValueError, match="truncated"):
        tfrecords.check_record_lengths([path], limit=3)


def test_a_changed_byte_is_found_when_reading(tmp_path):
    path = write_damaged_records(tmp_path, flip_bit_at(40))
    assert tfrecords.count_records([path]) == 3
    with pytest.raises(ValueError, match="byte 26"):
        list(tfrecords.read_records(path))
