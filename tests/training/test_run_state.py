"""The small files of a run outlast a power cut, in its checkpoints."""

import json
import logging
import os
import re
import shutil

import pytest
import tensorflow as tf

import modeling
from modeling.checkpoints import tf1
from tests import toy_task
from tests.checkpoints import assert_same_bits, values
from training import checks, fine_tuning, model_folder, run_state
from training.callbacks import history

FILES = (
    "model.json",
    "bert_config.json",
    "labels.txt",
    "best/labels.txt",
    "best/eval_results.json",
)
DAMAGES = {
    "empty": lambda contents: b"",
    "half": lambda contents: contents[: len(contents) // 2],
    "zeros": lambda contents: bytes(len(contents)),
    "zeros for an end": lambda contents: contents[:-5] + bytes(5),
}


class Task(toy_task.ToyTask):
    """A task with labels, evaluated after each epoch."""

    labels = ("no", "yes")


def train(folder, **changes):
    """Trains in a folder `run`, and returns its path."""
    options = toy_task.create_run(
        folder,
        max_seq_length=Task.max_seq_length,
        do_train=True,
        do_eval=True,
        evaluate_each_epoch=True,
        **{"num_train_epochs": 2, **changes},
    )
    fine_tuning.run(Task(), options)
    return folder / "run"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train(tmp_path_factory.mktemp("trained"))


@pytest.fixture
def run(trained, tmp_path):
    """A copy of a run of six steps."""
    return shutil.copytree(trained, tmp_path / "run")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_cut_off_is_restored(run, name, damage, caplog):
    whole = (run / name).read_bytes()
    (run / name).write_bytes(DAMAGES[damage](whole))
    caplog.set_level(logging.WARNING)
    run_state.mend(run)
    assert (run / name).read_bytes() == whole
    assert f"{run / name} was cut off" in caplog.text


@pytest.mark.parametrize("name", ["bert_config.json", "labels.txt"])
def test_a_start_that_is_cut_off_is_restored(run, tmp_path, name):
    whole = (run / name).read_bytes()
    history_file = run / "history.jsonl"
    for file in (run / name, history_file):
        file.write_bytes(b"")
    checks.check(
        toy_task.create_config(
            tmp_path / "other",
            bert_config_file=str(run / "bert_config.json"),
            init_checkpoint=str(run),
            do_eval=True,
        )
    )
    assert (run / name).read_bytes() == whole
    # Another process may be writing it.
    assert not history_file.read_bytes()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_history_keeps_its_lines_and_the_hours(run, damage):
    path = run / "history.jsonl"
    lines = path.read_bytes().splitlines(True)
    (newest,) = (x for x in lines if b'"checkpoint", "step": 6,' in x)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    left = lines[: path.read_bytes().count(b"\n")]
    run_state.mend(run)
    if newest not in left:
        left.append(newest)
    # Half a line that follows the checkpoint is written again in a resume.
    assert path.read_bytes().startswith(b"".join(left))
    assert history.read(path) == [json.loads(line) for line in left]


def test_a_run_goes_on_after_a_power_cut(run, tmp_path, trained):
    for name in (*FILES, "history.jsonl"):
        (run / name).write_bytes(b"")
    for name in (run, trained):
        train(name.parent, num_train_epochs=3)
    assert_same_bits(values(run, 9), values(trained, 9))
    for name in FILES:
        assert (run / name).read_bytes() == (trained / name).read_bytes()
    hours = {
        line["step"]: line["hours"]
        for line in history.read(run / "history.jsonl")
        if line["kind"] == "checkpoint"
    }
    # From a checkpoint whose line was lost, and from one after it.
    assert hours.keys() == {6, 9} and 0 < hours[6] < hours[9]


@pytest.mark.parametrize(
    "name, text",
    [
        # A user's own, though the last line lacks its end.
        ("labels.txt", "maybe\nyes"),
        ("model.json", '{"seed": 7'),
        ("best/eval_results.json", '{"accuracy": 0.7, "global_step": 3}'),
    ],
)
def test_other_contents_stay(run, name, text):
    (run / name).write_text(text)
    run_state.mend(run)
    assert (run / name).read_text() == text


def test_a_new_folder_in_a_run_mends_nothing(run):
    (run / "labels.txt").write_bytes(b"")
    run_state.mend(run / "new")
    assert not (run / "labels.txt").read_bytes()


def test_an_evaluation_reads_the_description_twice(run, monkeypatch):
    """For the flags, and again once the folder is locked."""
    reads, read = [], model_folder.read
    monkeypatch.setattr(
        model_folder, "read", lambda *args: reads.append(args) or read(*args)
    )
    options = toy_task.create_config(
        run,
        bert_config_file=str(run / "bert_config.json"),
        max_seq_length=Task.max_seq_length,
        do_eval=True,
    )
    fine_tuning.run(Task(), options)
    assert [str(path) for path, *_ in reads] == [str(run)] * 2


def test_a_damaged_checkpoint_is_skipped(run):
    # As a power cut leaves a file whose contents were not written yet.
    *_, data = sorted(run.glob("model.ckpt-*.data-00000-of-00001"))
    data.write_bytes(bytes(data.stat().st_size))
    run_state.check(run)
    run_state.check(data.with_suffix(""))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"model.json": 5}',
        '{"model.json": "{\\"origin\\": []}"}',
        '{"model.json": "{\\"origin\\": {\\"settings\\": []}}"}',
    ],
)
def test_an_entry_of_another_form_is_ignored(tmp_path, text):
    (tmp_path / "model.json").write_text("{}")
    variables = {"x": tf.Variable([1.0]), tf1.RUN_STATE: text}
    tf1.write_checkpoint(tmp_path / "model.ckpt-1", variables)
    run_state.check(tmp_path)


def test_checkpoints_without_the_entry_mend_nothing(run):
    for folder in (run, run / "best"):
        for index in folder.glob("model.ckpt-*.index"):
            path = index.with_suffix("")
            variables = {k: tf.Variable(v) for k, v in values(path).items()}
            tf1.write_checkpoint(path, variables)
    for name in FILES:
        (run / name).write_bytes(b"")
    run_state.mend(run)
    assert all((run / name).read_bytes() == b"" for name in FILES)


def test_every_other_reader_ignores_the_entry(run):
    path = f"{run}/model.ckpt-6"
    reader = tf.train.load_checkpoint(path)
    entry = json.loads(reader.get_tensor("run_state"))
    assert entry.keys() == {
        "bert_config.json",
        "history.jsonl",
        "labels.txt",
        "model.json",
    }
    assert os.path.getsize(f"{path}.index") < 20_000
    config = modeling.BertConfig.from_dict(
        json.loads(entry["bert_config.json"])
    )
    model = modeling.BertClassifier(config, 2)
    report = modeling.load_checkpoint(model, path)
    assert not report.missing and "run_state" not in report.unused
    # The original's get_assignment_map_from_checkpoint, and what it is for.
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.get_variable(
            "output_weights", reader.get_tensor("output_weights").shape
        )
        trained = {re.match(r"^(.*):\d+$", v.name)[1]: v for v in [variable]}
        names = {
            name: name
            for name, _ in tf.train.list_variables(path)
            if name in trained
        }
        tf.compat.v1.train.init_from_checkpoint(path, names)
        session.run(tf.compat.v1.global_variables_initializer())
        found = session.run(variable)
    assert (found == reader.get_tensor("output_weights")).all()


def test_files_of_another_run_beside_a_checkpoint_are_refused(run, tmp_path):
    run_state.check(run)
    labels = run / "best/labels.txt"
    labels.write_text("yes\nno\n")
    with pytest.raises(ValueError, match="order of .*=.'yes', 'no'., but .*be"):
        run_state.check(run)
    # Renamed by the user.
    labels.write_text("never\nalways\n")
    run_state.check(run)
    other = run / "best/model.json"
    description = json.loads(other.read_text())
    settings = description["origin"]["settings"]
    settings["bert_config"]["num_attention_heads"] = 4
    other.write_text(json.dumps(description))
    message = "model.json says bert_config.num_attention_heads=4, but .*best/mo"
    with pytest.raises(ValueError, match=message):
        run_state.check(run)
    # As a command that uses the weights does.
    config = modeling.load_config(run)
    with pytest.raises(ValueError, match=message):
        model_folder.read(run, "--init_checkpoint").check_identity(config)
    # A file of another version may have fewer entries.
    settings["bert_config"] = {"hidden_size": 32}
    other.write_text(json.dumps(description))
    run_state.check(other)
    run_state.check(run)
    # Other checks report damages, if the command needs the file.
    for index in run.glob("model.ckpt-*.index"):
        index.write_bytes(b"?")
    for text in ('{"origin": []}', '{"origin": {"settings": null}}', "?"):
        other.write_text(text)
        model_folder.read(run, "--init_checkpoint").check_identity(config)
