"""Records written by several processes, and work that is interrupted."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

from data.io import feature_specs, record_checks, tfrecords
from data.pretraining import instance_units, record_inspection, sharded_writing
from data.pretraining.instance_units import InstanceUnit
from data.pretraining.sharded_writing import write_records_at_scale
from files import lock
from tests.support.shards import (
    CORPUS,
    create_data_config,
    create_shards,
    read_checksums,
    read_shards,
    write_documents,
)


@pytest.mark.parametrize("num_processes", [2, 3])
def test_several_processes_write_the_bytes_of_one_process(
    tmp_path, small_parts, num_processes
):
    one = create_shards(tmp_path / "one", num_processes=1)
    several = create_shards(tmp_path / "more", num_processes=num_processes)
    assert read_checksums(one) == read_checksums(several)
    assert one["corpus"] == several["corpus"]


def test_another_seed_writes_other_bytes(tmp_path, small_parts):
    one = create_shards(tmp_path / "one")
    other = create_shards(tmp_path / "other", random_seed=7)
    assert read_checksums(one) != read_checksums(other)


def test_a_finished_job_leaves_its_manifest_alone(tmp_path, small_parts):
    manifest = create_shards(tmp_path)
    assert not (tmp_path / "out.work").exists()
    text = (tmp_path / "out.manifest.json").read_text()
    assert json.loads(text) == manifest


def test_counts_are_those_of_the_records(tmp_path):
    manifest = create_shards(tmp_path, dupe_factor=40)
    features = read_shards(manifest)
    lengths = features["input_mask"].sum(1)
    assert manifest["corpus"]["num_instances"] == len(lengths) > 500
    assert manifest["corpus"]["num_pieces"] == lengths.sum()
    assert 0.4 < features["next_sentence_labels"].mean() < 0.7
    num_masked = (features["masked_lm_weights"] > 0).sum(1)
    np.testing.assert_array_equal(
        num_masked, np.clip(np.rint(lengths * 0.15), 1, 10).astype(int)
    )


def test_random_next_of_a_long_document_is_of_the_part_before(
    tmp_path, small_parts
):
    path = tmp_path / "corpus.txt"
    words = write_documents(path, 5, 60)
    options = {"dupe_factor": 40, "dynamic_masking": True, "num_shards": 1}
    manifest = create_shards(tmp_path, [path], **options)
    features = read_shards(
        manifest, feature_specs.unmasked_pretraining_spec(64)
    )
    word_pairs = {0: set(), 1: set()}
    for ids, segments, label in zip(
        features["input_ids"],
        features["segment_ids"],
        features["next_sentence_labels"],
        strict=True,
    ):
        (first,), (second,) = (
            words & set(ids[segments == number]) for number in (0, 1)
        )
        word_pairs[label[0]].add((first, second))
    assert word_pairs[0] == {(word, word) for word in words}
    # Each part is one document. Only the first part has no part before it.
    others = {pair for pair in word_pairs[1] if pair[0] != pair[1]}
    assert len(others) == 4
    assert len(word_pairs[1] - others) == 1


def test_records_at_scale_are_named_by_the_pattern_of_their_files(tmp_path):
    output_file = str(tmp_path / "out")
    config = create_data_config(output_file, num_shards=2)
    written = write_records_at_scale(config, CORPUS)
    shards = [f"{output_file}-0000{index}-of-00002" for index in (0, 1)]
    assert tfrecords.count_records(shards) == written.num_instances
    assert written.num_files == 2
    assert written.files == f"{output_file}-*-of-00002"
    assert written.is_new


def test_records_at_scale_are_not_written_again(tmp_path):
    config = create_data_config(str(tmp_path / "out"), num_shards=1)
    first = write_records_at_scale(config, CORPUS)
    again = write_records_at_scale(config, CORPUS)
    assert again == first._replace(is_new=False)


@pytest.mark.parametrize("output_file", ["a,b", "gs://bucket/out"])
def test_records_at_scale_need_one_local_path(
    output_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    config = create_data_config(output_file, num_shards=1)
    with pytest.raises(ValueError, match=f"--output_file={output_file} must"):
        write_records_at_scale(config, CORPUS)
    assert not os.listdir(tmp_path)


class Stop(Exception):
    pass


@pytest.fixture
def written(monkeypatch):
    """Numbers of the first shards that units were to write."""
    numbers = []
    write_shards = InstanceUnit.write_shards

    def note(unit):
        numbers.append(int(unit.shards[0][-14:-9]))
        write_shards(unit)

    monkeypatch.setattr(InstanceUnit, "write_shards", note)
    return numbers


def interrupt_job(tmp_path, monkeypatch):
    """Stops a job when all units are done, but before the manifest."""

    def stop(*unused_args):
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(sharded_writing, "check_and_log_counts", stop)
        with pytest.raises(Stop):
            create_shards(tmp_path)


def test_interrupted_work_resumes(tmp_path, monkeypatch, small_parts, written):
    whole = create_shards(tmp_path / "whole")
    written.clear()
    write_json = instance_units.write_json

    def stop_at_last(path, contents):
        if path.endswith("2.json"):
            raise Stop
        write_json(path, contents)

    with monkeypatch.context() as patch:
        patch.setattr(instance_units, "write_json", stop_at_last)
        with pytest.raises(Stop):
            create_shards(tmp_path)
    (tmp_path / "out-00000-of-00003").unlink()
    manifest = create_shards(tmp_path)
    assert written == [0, 1, 2, 0, 2]
    assert read_checksums(manifest) == read_checksums(whole)


def test_finished_work_is_not_done_again(tmp_path, small_parts, written):
    manifest = create_shards(tmp_path)
    assert written == [0, 1, 2]
    assert create_shards(tmp_path) == manifest
    assert written == [0, 1, 2]


def test_a_damaged_result_file_keeps_the_finished_shards(
    tmp_path, monkeypatch, small_parts
):
    interrupt_job(tmp_path, monkeypatch)
    shards = sorted(tmp_path.glob("out-*"))
    (tmp_path / "out.work/unit-00001.json").write_text("{}")
    with pytest.raises(ValueError, match=r"unit-00001\.json is damaged"):
        create_shards(tmp_path)
    assert sorted(tmp_path.glob("out-*")) == shards


def test_another_dupe_factor_is_refused_on_resume(
    tmp_path, monkeypatch, small_parts, written
):
    interrupt_job(tmp_path, monkeypatch)
    with pytest.raises(ValueError, match="was written with --dupe_factor=3"):
        create_shards(tmp_path, dupe_factor=4)
    # What was done is kept for the command that began it.
    create_shards(tmp_path)
    assert written == [0, 1, 2]


def test_another_input_is_refused(tmp_path):
    text = "The harbor.\nThe keeper.\n\nA light.\nThe end.\n"
    create_shards(tmp_path, text)
    with pytest.raises(ValueError, match="was written with other input files"):
        create_shards(tmp_path, text.replace("end", "and"))


def test_a_packed_corpus_gives_the_same_records(tmp_path):
    compressed = []
    for path in map(Path, CORPUS):
        compressed.append(tmp_path / f"{path.name}.gz")
        compressed[-1].write_bytes(gzip.compress(path.read_bytes()))
    output = create_shards(tmp_path / "a", compressed)
    expected = create_shards(tmp_path / "b")
    assert read_checksums(output) == read_checksums(expected)


@pytest.mark.parametrize("text", [b"", b"\n \n\n", b"\x00\n\n\xff\n"])
def test_an_empty_corpus_is_an_error_that_leaves_nothing(tmp_path, text):
    with pytest.raises(
        ValueError, match=r"no text in the input: .*corpus\.txt"
    ):
        create_shards(tmp_path, text)
    assert os.listdir(tmp_path) == ["corpus.txt"]


def test_a_shard_may_be_empty(tmp_path):
    """Training reads the others."""
    manifest = create_shards(
        tmp_path, "The harbor.\n\nThe keeper.\n", num_shards=99
    )
    assert {entry["bytes"] > 0 for entry in manifest["shards"]} == {True, False}
    paths = [entry["path"] for entry in manifest["shards"]][::-1]
    record_checks.check_records(paths, feature_specs.pretraining_spec(64, 10))
    assert record_inspection.are_masked(paths)
    unmasked = create_shards(
        tmp_path / "unmasked", num_shards=99, dynamic_masking=True
    )
    paths = [entry["path"] for entry in unmasked["shards"]][::-1]
    assert not record_inspection.are_masked(paths)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: os.truncate(path, 100),
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
    ],
    ids=["cut", "removed", "another byte"],
)
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_damaged_shard_is_rebuilt(
    tmp_path, monkeypatch, small_parts, written, damage, is_finished
):
    if is_finished:
        create_shards(tmp_path)
    else:
        interrupt_job(tmp_path, monkeypatch)
    shards = sorted(tmp_path.glob("out-*"))
    before = [path.read_bytes() for path in shards]
    damage(shards[1])
    manifest = create_shards(tmp_path)
    assert [path.read_bytes() for path in shards] == before
    # A finished job keeps no results of its units, so it begins anew.
    assert written[3:] == ([0, 1, 2] if is_finished else [1])
    assert sorted(os.listdir(tmp_path))[3:] == ["out.manifest.json"]
    sizes = [shard["bytes"] for shard in manifest["shards"]]
    assert sizes == [*map(len, before)]


@pytest.mark.parametrize("contents", ["{", '{"flags": {}, "inputs": 5}'])
@pytest.mark.parametrize("name", ["out.manifest.json", "out.work/job.json"])
def test_a_manifest_of_other_contents_is_named(tmp_path, name, contents):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(contents)
    with pytest.raises(ValueError, match=name):
        create_shards(tmp_path)
    assert path.read_text() == contents


@pytest.mark.parametrize(
    "name",
    [
        "out-00000-of-00003.partial-good",
        "out-notes.partial-1",
        "out.manifest.json.partial-2.txt",
    ],
)
def test_a_users_file_with_a_name_like_unfinished_work_stays(tmp_path, name):
    (tmp_path / name).write_text("mine")
    create_shards(tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_a_shard_that_a_killed_job_began_is_removed(tmp_path):
    killed = tmp_path / "out-00001-of-00003.partial-123"
    killed.write_text("half a shard")
    create_shards(tmp_path)
    assert not killed.exists()


def test_a_users_file_with_the_name_of_a_unit_is_named_and_stays(tmp_path):
    work = tmp_path / "out.work"
    work.mkdir()
    (work / "unit-00000.json").write_text("mine")
    with pytest.raises(ValueError, match=r"out\.work, .* did not write"):
        create_shards(tmp_path)
    assert (work / "unit-00000.json").read_text() == "mine"


def test_a_users_file_in_the_folder_of_unfinished_work_stays(
    tmp_path, monkeypatch
):
    interrupt_job(tmp_path, monkeypatch)
    (tmp_path / "out.work/notes.txt").write_text("mine")
    create_shards(tmp_path)
    assert os.listdir(tmp_path / "out.work") == ["notes.txt"]


def test_two_jobs_cannot_write_the_same_records_at_once(tmp_path):
    # A lock is held against this process too.
    with (
        lock.hold_lock(tmp_path / "out.lock", "out"),
        pytest.raises(OSError, match="out is in use"),
    ):
        create_shards(tmp_path)
    assert os.listdir(tmp_path) == []
