"""Batches of TFRecords, and their order."""

import numpy as np
import pytest
import tensorflow as tf

from data.io import feature_specs, record_datasets
from data.io.tf_examples import encode_example
from data.io.tfrecords import RecordWriter

SPEC = feature_specs.pretraining_spec(4, 2)


def write_records(path, first, count, max_seq_length=4):
    """Writes records whose ids are their numbers. Returns the path."""
    with RecordWriter([str(path)]) as writer:
        for number in range(first, first + count):
            features = {
                name: [1] * (2 if "masked" in name else max_seq_length)
                for name in SPEC
            }
            features["input_ids"] = [number] * max_seq_length
            features["masked_lm_weights"] = [1.0, 0.0]
            features["next_sentence_labels"] = [number % 2]
            writer.write(encode_example(features))
    return str(path)


@pytest.fixture
def three_files(tmp_path):
    """Three files of 13, 7 and 20 records."""
    return [
        write_records(tmp_path / f"{index}.tfrecord", index * 100, count)
        for index, count in enumerate((13, 7, 20))
    ]


def first_ids_of(dataset, num_batches=None):
    batches = dataset.take(num_batches) if num_batches else dataset
    return np.concatenate(
        [batch["input_ids"][:, 0].numpy() for batch in batches]
    ).tolist()


def dataset_of(files, batch_size, **options):
    return record_datasets.create_dataset(
        record_datasets.Records(files, SPEC), batch_size, **options
    )


def test_evaluation_reads_once_in_order(three_files):
    dataset = dataset_of(three_files, 16, is_training=False)
    batches = list(dataset)
    assert [len(batch["input_ids"]) for batch in batches] == [16, 16, 8]
    assert batches[0]["input_ids"].dtype == tf.int32
    assert batches[0]["masked_lm_weights"].dtype == tf.float32
    expected = [*range(13), *range(100, 107), *range(200, 220)]
    assert first_ids_of(dataset) == expected


def test_evaluation_may_skip_its_first_records(three_files):
    dataset = dataset_of(three_files, 8, is_training=False, skip_records=35)
    assert first_ids_of(dataset) == [215, 216, 217, 218, 219]


def test_training_is_a_function_of_the_seed(three_files):
    def draw_numbers(seed, num_batches=30):
        dataset = dataset_of(three_files, 4, is_training=True, seed=seed)
        return first_ids_of(dataset, num_batches)

    first = draw_numbers(seed=5)
    assert first == draw_numbers(seed=5)
    assert first != draw_numbers(seed=6)
    epochs = [first[start : start + 40] for start in (0, 40, 80)]
    everything = sorted([*range(13), *range(100, 107), *range(200, 220)])
    assert all(sorted(epoch) == everything for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


@pytest.mark.parametrize("skip", [1, 39, 40, 41, 97, 400])
def test_skipping_gives_the_tail_of_the_full_sequence(
    three_files, skip, monkeypatch
):
    monkeypatch.setattr(record_datasets, "SHUFFLE_BUFFER_SIZE", 10)

    def dataset(skip_records):
        return dataset_of(
            three_files,
            5,
            is_training=True,
            seed=7,
            skip_records=skip_records,
        )

    full = first_ids_of(dataset(0), (skip + 60) // 5 + 1)
    assert first_ids_of(dataset(skip), 12) == full[skip : skip + 60]
