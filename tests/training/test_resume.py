"""A run that is killed again and again ends with the same bits."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

import modeling
from tests import script_runner
from tests.golden import ROOT
from training import checkpointing, loop

CORPUS = ROOT / "samples" / "corpus.txt"
VOCAB = ROOT / "samples" / "vocab.txt"
NUM_STEPS = 60
NUM_KILLS = 10


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Records in several files, and a configuration with dropout."""
    folder = tmp_path_factory.mktemp("inputs")
    files = ",".join(str(folder / f"{i}.tfrecord") for i in range(3))
    subprocess.run(
        [
            sys.executable,
            ROOT / "create_pretraining_data.py",
            f"--input_file={CORPUS}",
            f"--output_file={files}",
            f"--vocab_file={VOCAB}",
            "--max_seq_length=32",
            "--max_predictions_per_seq=5",
            "--dupe_factor=1",
        ],
        check=True,
        capture_output=True,
    )
    config = modeling.BertConfig(
        vocab_size=len(VOCAB.read_text(encoding="utf-8").splitlines()),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=32,
        type_vocab_size=2,
    )
    (folder / "config.json").write_text(config.to_json_string())
    return folder


def flags_of(inputs, output_dir, **flags):
    return {
        "input_file": f"{inputs}/*.tfrecord",
        "bert_config_file": inputs / "config.json",
        "output_dir": output_dir,
        "do_train": True,
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        # More than an epoch: the data starts anew within the run.
        "train_batch_size": 8,
        "num_train_steps": NUM_STEPS,
        "num_warmup_steps": 10,
        "learning_rate": 1e-3,
        "save_checkpoints_steps": 1,
        "summary_steps": 0,
    } | flags


def command(inputs, output_dir, **flags):
    flags = flags_of(inputs, output_dir, **flags)
    return [
        sys.executable,
        str(ROOT / "run_pretraining.py"),
        *(f"--{name}={value}" for name, value in flags.items()),
    ]


def run(inputs, output_dir, **flags):
    return subprocess.run(
        command(inputs, output_dir, **flags), capture_output=True, text=True
    )


def values(output_dir, step=NUM_STEPS):
    reader = tf.train.load_checkpoint(str(output_dir / f"model.ckpt-{step}"))
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
    }


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], name)


@pytest.fixture(scope="module")
def undisturbed(inputs, tmp_path_factory):
    output_dir = tmp_path_factory.mktemp("undisturbed")
    result = run(inputs, output_dir)
    assert result.returncode == 0, result.stderr
    return values(output_dir)


def kill_somewhere(inputs, output_dir, rng, signum, while_saving):
    """Starts the run and kills it after a random number of steps.

    Returns:
        the exit status, and whether a save was under way.
    """
    steps = checkpointing.checkpoint_steps(output_dir)
    last = steps[-1] if steps else 0
    goal = last + rng.randint(1, 5)
    process = subprocess.Popen(
        command(inputs, output_dir),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    saving = False
    while process.poll() is None and time.monotonic() < deadline:
        steps = checkpointing.checkpoint_steps(output_dir)
        if steps and steps[-1] >= goal:
            saving = any(output_dir.glob("*.partial*"))
            if saving or not while_saving:
                process.send_signal(signum)
                break
    return process.wait(timeout=60), saving


def test_killed_runs_end_with_the_same_bits(inputs, undisturbed, tmp_path):
    rng = random.Random(0)
    output_dir = tmp_path / "killed"
    caught_saving = 0
    for number in range(NUM_KILLS):
        # Every third is told to stop, the others are killed without notice,
        # half of these while they write a checkpoint.
        told = number % 3 == 2
        status, saving = kill_somewhere(
            inputs,
            output_dir,
            rng,
            signal.SIGTERM if told else signal.SIGKILL,
            while_saving=number % 3 == 0,
        )
        assert status == (loop.INTERRUPTED_STATUS if told else -signal.SIGKILL)
        caught_saving += saving
        steps = checkpointing.checkpoint_steps(output_dir)
        assert steps[-1] < NUM_STEPS
    assert caught_saving >= 3
    result = run(inputs, output_dir)
    assert result.returncode == 0, result.stderr
    assert "Restored the checkpoint" in result.stderr
    assert_same_bits(values(output_dir), undisturbed)
    assert not list(output_dir.glob("*.partial*"))

    again = run(inputs, output_dir)
    assert again.returncode == 0, again.stderr
    assert "Nothing left to do" in again.stderr


def test_ctrl_c_saves_and_the_run_goes_on(inputs, undisturbed, tmp_path):
    flags = flags_of(inputs, tmp_path, save_checkpoints_steps=7)
    sent = []

    def interrupt():
        if not sent and checkpointing.checkpoint_steps(tmp_path):
            (process,) = multiprocessing.active_children()
            os.kill(process.pid, signal.SIGINT)
            sent.append(process.pid)

    done = script_runner.run(
        "run_pretraining.py", tmp_path, kill_when=interrupt, **flags
    )
    assert done.status == loop.INTERRUPTED_STATUS, done.stderr
    saved = checkpointing.checkpoint_steps(tmp_path)[-1]
    assert saved < NUM_STEPS
    assert f"Stopped after step {saved}, which is saved" in done.stderr
    done = script_runner.run("run_pretraining.py", tmp_path, **flags).check()
    assert f"Restored the checkpoint {tmp_path}/model.ckpt-{saved}" in (
        done.stderr
    )
    assert_same_bits(values(tmp_path), undisturbed)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[]", "must hold a JSON object"),
        ('{"batch_size": 1', "is not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_settings_that_cannot_be_read_are_named(tmp_path, text, message):
    (tmp_path / "model.ckpt-3.index").touch()
    (tmp_path / "run_settings.json").write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        checkpointing.check_settings(tmp_path, {"batch_size": 16})
    assert str(error.value).startswith(str(tmp_path / "run_settings.json"))
    assert "or delete it" in str(error.value)
    assert (tmp_path / "run_settings.json").read_text() == text
