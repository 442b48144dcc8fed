"""What tells files of pretraining records apart, and their lengths."""

import json
import math
import os
import shutil

import pytest

from data.io import feature_specs, tf_examples, tfrecords
from data.parallel_jobs.job_files import JobFiles, JobPaths
from data.pretraining import record_inspection, sharded_writing
from data.pretraining.record_manifests import RecordManifest


def write_shard(path, numbers):
    """Writes a record for each number; returns its entry of a manifest."""
    with tfrecords.RecordWriter([str(path)]) as writer:
        for number in numbers:
            writer.write(
                tf_examples.encode_example(
                    {"input_ids": [number] * 8, "masked_lm_positions": [1, 2]}
                )
            )
    return writer.list_shards()[0]


@pytest.fixture
def shard_files(tmp_path):
    """Paths of two shards and a held-out file that a manifest lists."""
    output_file = str(tmp_path / "made")
    eval_path = sharded_writing.eval_file(output_file)
    job_paths = JobPaths(output_file, named_shards={"eval_shards": eval_path})
    flags = {"max_predictions_per_seq": 3}
    job_files = JobFiles(
        job_paths, {"version": 1, "flags": flags, "inputs": []}, RecordManifest
    )
    paths = [*job_paths.shard_paths(2), eval_path]
    entries = [
        write_shard(path, range(start, start + 20))
        for start, path in enumerate(paths)
    ]
    job_files.finish({"shards": entries[:2], "eval_shards": entries[2:]})
    return paths


@pytest.mark.parametrize("changed", [0, 10, 19])
def test_records_of_equal_name_size_and_time_are_told_apart(tmp_path, changed):
    path = tmp_path / "made.tfrecord"
    write_shard(path, range(20))
    os.utime(path, (1, 1))
    before = record_inspection.fingerprint_records([str(path)])
    assert record_inspection.fingerprint_records([str(path)]) == before
    numbers = [*range(20)]
    numbers[changed] = 99
    write_shard(path, numbers)
    os.utime(path, (1, 1))
    after = record_inspection.fingerprint_records([str(path)])
    assert after[0][:2] == before[0][:2]
    assert after != before


def test_records_with_a_manifest_are_identified_without_reading_them(
    shard_files, tmp_path, monkeypatch
):
    copies = tmp_path / "copies"
    copies.mkdir()
    copied = [shutil.copy(path, copies) for path in shard_files]
    # A copy without its manifest is the same.
    expected = record_inspection.fingerprint_records(copied)
    read_records = tfrecords.read_records

    def read_first(path):
        yield next(read_records(path))
        pytest.fail("reads more than the first record")

    monkeypatch.setattr(tfrecords, "read_records", read_first)
    assert record_inspection.fingerprint_records(shard_files) == expected
    assert [fingerprint[0] for fingerprint in expected] == [
        "made-00000-of-00002",
        "made-00001-of-00002",
        "eval-made",
    ]


@pytest.mark.parametrize("changed", [0, 19])
def test_other_records_beside_the_manifest_are_found(shard_files, changed):
    before = record_inspection.fingerprint_records(shard_files)
    numbers = [*range(20)]
    numbers[changed] = 99
    write_shard(shard_files[0], numbers)
    after = record_inspection.fingerprint_records(shard_files)
    assert after[0][:2] == before[0][:2]
    assert after != before
    assert after[1:] == before[1:]


def test_a_file_of_another_size_than_listed_is_read(shard_files):
    before = record_inspection.fingerprint_records(shard_files)
    write_shard(shard_files[0], range(21))
    after = record_inspection.fingerprint_records(shard_files)
    assert after[0][1] > before[0][1]
    assert after[0][2] != before[0][2]
    os.truncate(shard_files[0], after[0][1] - 3)
    with pytest.raises(
        ValueError, match="the record at byte 1520 is truncated"
    ):
        record_inspection.fingerprint_records(shard_files)


def test_empty_shards_are_files_too(shard_files, tmp_path):
    write_shard(tmp_path / "empty", [])
    path = str(tmp_path / "empty")
    assert record_inspection.fingerprint_records([path]) == [
        ("empty", 0, "00000000", "", "")
    ]
    lengths = {"max_seq_length": 8, "max_predictions_per_seq": 2}
    assert record_inspection.read_masking_and_lengths([path, *shard_files]) == (
        True,
        lengths,
    )
    assert record_inspection.read_masking_and_lengths([path]) == (False, {})


def test_lengths_of_records_without_masks_are_in_the_manifest(shard_files):
    with tfrecords.RecordWriter([shard_files[0]]) as writer:
        writer.write(tf_examples.encode_example({"input_ids": [7] * 8}))
    lengths = {"max_seq_length": 8, "max_predictions_per_seq": 3}
    assert record_inspection.read_masking_and_lengths(shard_files) == (
        False,
        lengths,
    )
    os.remove(f"{os.path.dirname(shard_files[0])}/made.manifest.json")
    lengths = {"max_seq_length": 8}
    assert record_inspection.read_masking_and_lengths(shard_files) == (
        False,
        lengths,
    )


def test_a_manifest_that_is_not_json_is_named(shard_files):
    manifest = f"{os.path.dirname(shard_files[0])}/made.manifest.json"
    with open(manifest, "w") as file:
        json.dump([1], file)
    with pytest.raises(ValueError, match=r"made\.manifest\.json"):
        record_inspection.fingerprint_records(shard_files)


@pytest.mark.parametrize("are_masked", [True, False])
def test_the_first_record_tells_whether_all_contain_masks(tmp_path, are_masked):
    masked_spec = feature_specs.pretraining_spec(4, 2)
    spec = (
        masked_spec
        if are_masked
        else feature_specs.unmasked_pretraining_spec(4)
    )
    path = str(tmp_path / "a.tfrecord")
    with tfrecords.RecordWriter([path]) as writer:
        features = {name: [1] * math.prod(spec[name].shape) for name in spec}
        writer.write(tf_examples.encode_example(features))
    assert record_inspection.are_masked([path]) == are_masked


@pytest.mark.parametrize(
    "records",
    [
        [],
        [b"not a tf.train.Example"],
        [tf_examples.encode_example({"label_ids": [1]})],
        # Contains the name of a feature, but no features.
        [b"\x12input_ids"],
    ],
)
def test_files_without_records_for_pretraining_count_as_masked(
    tmp_path, records
):
    path = str(tmp_path / "a.tfrecord")
    with tfrecords.RecordWriter([path]) as writer:
        for record in records:
            writer.write(record)
    assert record_inspection.are_masked([path])
