"""Runs are told apart by their settings, and files by their checksums."""

import json
import os
import shutil

import google_crc32c
import pytest
import tensorflow as tf

import modeling
from data.io import records as record_files
from data.io.records import RecordWriter, read_records
from modeling import presets
from tests import script_runner, toy_task
from training import fine_tuning, fingerprints


def checksum(path):
    return google_crc32c.value(path.read_bytes()).to_bytes(4, "big").hex()


def begin(folder, **settings):
    """Makes a folder with a checkpoint, so that its settings count."""
    folder.mkdir(exist_ok=True)
    for end in ("index", "data-00000-of-00001"):
        (folder / f"model.ckpt-1.{end}").touch()
    description = {"version": 1, "origin": {"settings": settings}}
    (folder / presets.FILE).write_text(json.dumps(description))


@pytest.fixture
def records(tmp_path, tiny):
    """1,200 records of one size."""
    path = tmp_path / "records.tfrecord"
    found = [*read_records(str(tiny / "train.tfrecord"))]
    size = max(set(map(len, found)), key=[*map(len, found)].count)
    found = [record for record in found if len(record) == size]
    assert len(set(found)) > 1

    def write(numbers):
        with RecordWriter([str(path)]) as writer:
            for number in numbers:
                writer.write(found[number % len(found)])
        return path

    write(range(1200))
    return path, write


@pytest.mark.slow
def test_records_replaced_in_the_middle_are_refused(
    records, pretraining_flags, tmp_path
):
    path, write = records
    flags = pretraining_flags | {
        "output_dir": "run",
        "do_train": True,
        "max_eval_steps": 1,
    }
    copy = flags["input_file"] = tmp_path / "copy"
    shutil.copy(path, copy)

    def run(num_train_steps):
        more = {"num_train_steps": num_train_steps}
        return script_runner.run("run_pretraining.py", tmp_path, **flags | more)

    run(1).check()
    size = copy.stat().st_size
    write([*range(450), *range(451, 751), *range(750, 1200)])
    shutil.copy(path, copy)
    assert copy.stat().st_size == size
    assert "input_file" in run(2).error


def test_an_unchanged_file_is_read_once(records, tmp_path, caplog):
    path, write = records
    run = tmp_path / "run"
    expected = [[path.name, path.stat().st_size, checksum(path)]]

    def find():
        caplog.clear()
        inputs = fingerprints.Inputs(run)
        found = inputs.identify([str(path)])
        inputs.save()
        return found, f"Reading {path} for its checksum" in caplog.text

    with caplog.at_level("INFO"):
        assert find() == (expected, True)
        assert find() == (expected, False)
        # A power cut emptied it.
        (run / fingerprints.FILE).write_bytes(b"")
        assert find() == (expected, True)
        assert find() == (expected, False)
        write([1] * 1200)
        found, is_read = find()
        assert is_read and found == [[*expected[0][:2], checksum(path)]]
        assert found != expected


def test_a_record_that_is_shorter_than_it_says_is_named(records, tmp_path):
    """TensorFlow's reader ends the process there, without a message."""
    path, _ = records
    start = path.stat().st_size // 1200 * 600
    for length, message in (
        (1 << 30, f"the record at byte {start} is cut off"),
        (1 << 62, f"the record at byte {start} is corrupt .its header"),
    ):
        with open(path, "r+b") as file:
            file.seek(start)
            file.write(record_files._header(length))
        # Remote files too.
        for file in (str(path), f"file://{path}"):
            with pytest.raises(ValueError, match=f"{path.name}: .*{message}"):
                fingerprints.Inputs(tmp_path).identify([file])


def test_the_writer_s_manifest_has_the_checksum(tmp_path, caplog):
    script_runner.create_records(
        tmp_path, "made.tfrecord", num_shards=2, eval_fraction=0.1
    )
    paths = [
        *sorted(tmp_path.glob("made.tfrecord-0*")),
        tmp_path / "eval-made.tfrecord",
    ]
    assert len(paths) == 3

    def find():
        caplog.clear()
        inputs = fingerprints.Inputs(tmp_path / "run")
        found = inputs.identify([*map(str, paths)])
        inputs.save()
        assert found == [
            [path.name, path.stat().st_size, checksum(path)] for path in paths
        ]
        return [path for path in paths if str(path) in caplog.text]

    with caplog.at_level("INFO"):
        assert not find()
        assert not (tmp_path / "run").exists()
        # Replaced by a file of its size, as old as the first one.
        contents = paths[1].read_bytes()
        other = tmp_path / "other"
        record = max(record_files.read_records(paths[1]), key=len)
        frame = record_files.frame(record[:-9] + bytes(9))
        other.write_bytes(contents.replace(record_files.frame(record), frame))
        times = paths[1].stat().st_atime_ns, paths[1].stat().st_mtime_ns
        os.utime(other, ns=times)
        other.rename(paths[1])
        assert find() == [paths[1]]
        # Of another program, or damaged: all are read.
        for manifest in ('{"shards": 3}', "[]", "{"):
            (tmp_path / "made.tfrecord.manifest.json").write_text(manifest)
            shutil.rmtree(tmp_path / "run")
            assert find() == paths


def test_remote_files_are_compared_too(tmp_path, caplog):
    """TensorFlow's file system in memory takes the way of gs://."""
    contents = record_files.frame(bytes(range(256))) * 1000
    path = "ram://bucket/a.tfrecord"
    tf.io.gfile.makedirs("ram://bucket")
    with tf.io.gfile.GFile(path, "wb") as writer:
        writer.write(contents)
    inputs = fingerprints.Inputs(tmp_path)
    (found,) = inputs.identify([path])
    expected = google_crc32c.value(contents).to_bytes(4, "big").hex()
    assert found == ["a.tfrecord", len(contents), expected]


def test_evaluations_are_of_the_records_that_a_run_has(tmp_path):
    files = {name: str(tmp_path / name) for name in ("eval", "other")}
    for name in files:
        (tmp_path / name).write_bytes(record_files.frame(name.encode()))
    run = tmp_path / "run"
    inputs = fingerprints.Inputs(run)
    begin(run)
    # A run that was not evaluated yet takes any.
    assert inputs.are_evaluated([files["other"]])
    begin(run, eval_input_file=inputs.identify([files["eval"]]))
    assert inputs.are_evaluated([files["eval"]])
    assert not inputs.are_evaluated([files["other"]])
    assert not inputs.are_evaluated([*files.values()])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of six steps, evaluated after each epoch."""
    folder = tmp_path_factory.mktemp("trained")
    task = toy_task.ToyTask()
    task.labels = ["no", "yes"]
    task.settings = {"labels": task.labels}
    options = toy_task.create_run(
        folder,
        max_seq_length=task.max_seq_length,
        do_train=True,
        do_eval=True,
        evaluate_each_epoch=True,
        num_train_epochs=2,
    )
    fine_tuning.run(task, options)
    return folder / "run"


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


def test_other_readers_ignore_the_fingerprint(run):
    path = f"{run}/model.ckpt-6"
    reader = tf.train.load_checkpoint(path)
    settings = presets.read(run).training
    found = reader.get_tensor("run_fingerprint").decode()
    assert found == fingerprints.fingerprint_of(settings, {})["run"]
    model = modeling.BertClassifier(modeling.load_config(run), 2)
    report = modeling.load_checkpoint(model, path)
    assert not report.missing and "run_fingerprint" not in report.unused
