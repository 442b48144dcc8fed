"""One device, two devices and two workers reach the same losses."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as tf

import modeling
from tests.golden import ROOT
from training import checkpointing, loop

VOCAB = ROOT / "samples" / "vocab.txt"
NUM_STEPS = 20

# Runs a script on two devices made of one CPU.
TWO_DEVICES = """
import runpy, sys
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2
)
sys.argv = sys.argv[1:]
sys.path.insert(0, ".")
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Records, and a configuration without dropout."""
    folder = tmp_path_factory.mktemp("inputs")
    subprocess.run(
        [
            sys.executable,
            "create_pretraining_data.py",
            "--input_file=samples/corpus.txt",
            f"--output_file={folder}/corpus.tfrecord",
            f"--vocab_file={VOCAB}",
            "--max_seq_length=32",
            "--max_predictions_per_seq=5",
            "--dupe_factor=1",
        ],
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    config = modeling.BertConfig(
        vocab_size=len(VOCAB.read_text(encoding="utf-8").splitlines()),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    (folder / "config.json").write_text(config.to_json_string())
    return folder


def arguments(inputs, output_dir, **flags):
    flags = {
        "input_file": inputs / "corpus.tfrecord",
        "bert_config_file": inputs / "config.json",
        "output_dir": output_dir,
        "do_train": True,
        "max_seq_length": 32,
        "max_predictions_per_seq": 5,
        "train_batch_size": 16,
        "num_train_steps": NUM_STEPS,
        "num_warmup_steps": 5,
        "learning_rate": 1e-3,
        "summary_steps": 1,
    } | flags
    return [
        "run_pretraining.py",
        *(f"--{name}={value}" for name, value in flags.items()),
    ]


def start(command, **environment):
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, timeout=300):
    _, stderr = process.communicate(timeout=timeout)
    assert process.returncode == 0, stderr
    return stderr


def recorded_losses(output_dir):
    """Returns the loss of each step, as TensorBoard would show it."""
    losses = {}
    for path in output_dir.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag == "loss":
                    losses[event.step] = float(tf.make_ndarray(value.tensor))
    return losses


@pytest.fixture(scope="module")
def one_device(inputs, tmp_path_factory):
    output_dir = tmp_path_factory.mktemp("one_device")
    finish(start(arguments(inputs, output_dir)))
    losses = recorded_losses(output_dir)
    assert sorted(losses) == list(range(1, NUM_STEPS + 1))
    return losses


def assert_same_losses(output_dir, expected):
    found = recorded_losses(output_dir)
    assert found.keys() == expected.keys()
    np.testing.assert_allclose(
        [found[step] for step in sorted(found)],
        [expected[step] for step in sorted(expected)],
        rtol=0,
        atol=1e-5,
    )


@pytest.mark.parametrize("trim_padding", [False, True])
def test_two_devices_equal_one(inputs, one_device, tmp_path, trim_padding):
    command = arguments(
        inputs,
        tmp_path,
        distribution_strategy="mirrored",
        trim_padding=trim_padding,
    )
    finish(start(["-c", TWO_DEVICES, *command]))
    assert_same_losses(tmp_path, one_device)


def test_accumulation_equals_one_large_batch(inputs, one_device, tmp_path):
    finish(
        start(
            arguments(
                inputs,
                tmp_path,
                train_batch_size=4,
                gradient_accumulation_steps=4,
            )
        )
    )
    found = recorded_losses(tmp_path)
    np.testing.assert_allclose(
        [found[step] for step in sorted(found)],
        [one_device[step] for step in sorted(found)],
        rtol=0,
        atol=1e-6,
    )


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def start_workers(command, count=2):
    addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
    return [
        start(
            command,
            TF_CONFIG=json.dumps(
                {
                    "cluster": {"worker": addresses},
                    "task": {"type": "worker", "index": index},
                }
            ),
        )
        for index in range(count)
    ]


def test_two_workers_equal_one(inputs, one_device, tmp_path):
    for worker in start_workers(arguments(inputs, tmp_path)):
        finish(worker)
    assert_same_losses(tmp_path, one_device)


def wait_for_step(output_dir, step, timeout=120):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if (checkpointing.checkpoint_steps(output_dir) or [0])[-1] >= step:
            return
        time.sleep(0.05)
    raise TimeoutError(f"no checkpoint of step {step} in {output_dir}")


def test_a_lost_worker_stops_the_others_and_all_go_on(inputs, tmp_path):
    command = arguments(
        inputs, tmp_path, num_train_steps=2000, save_checkpoints_steps=10
    )
    chief, worker = start_workers(command)
    try:
        wait_for_step(tmp_path, 10)
        worker.send_signal(signal.SIGKILL)
        lost = time.monotonic()
        _, stderr = chief.communicate(timeout=60)
        assert time.monotonic() - lost < 60
    finally:
        chief.kill()
        worker.kill()
    assert chief.returncode == 1, stderr
    errors = [x for x in stderr.splitlines() if x.startswith("error:")]
    assert len(errors) == 1, stderr
    assert "worker" in errors[0]
    saved = checkpointing.checkpoint_steps(tmp_path)[-1]
    assert saved >= 10

    steps = saved + 5
    command = arguments(inputs, tmp_path, num_train_steps=steps)
    for one in start_workers(command):
        stderr = finish(one)
        assert f"Restored the checkpoint {tmp_path}/model.ckpt-{saved}" in (
            stderr
        )
    assert checkpointing.checkpoint_steps(tmp_path)[-1] == steps


def test_a_stop_that_one_worker_is_told_stops_all(inputs, tmp_path):
    command = arguments(
        inputs, tmp_path, num_train_steps=2000, save_checkpoints_steps=1000
    )
    chief, worker = start_workers(command)
    try:
        deadline = time.monotonic() + 120
        while len(recorded_losses(tmp_path)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        worker.send_signal(signal.SIGTERM)
        stderrs = [one.communicate(timeout=60)[1] for one in (chief, worker)]
    finally:
        chief.kill()
        worker.kill()
    statuses = [chief.returncode, worker.returncode]
    assert statuses == [loop.INTERRUPTED_STATUS] * 2, stderrs
    (saved,) = checkpointing.checkpoint_steps(tmp_path)
    for stderr in stderrs:
        assert f"Stopped after step {saved}," in stderr


def test_two_workers_fine_tune_and_only_the_chief_writes(inputs, tmp_path):
    command = [
        "run_classifier.py",
        "--task_name=mrpc",
        "--data_dir=samples/glue",
        f"--vocab_file={VOCAB}",
        f"--bert_config_file={inputs}/config.json",
        f"--output_dir={tmp_path}/run",
        f"--export_dir={tmp_path}/export",
        "--do_train",
        "--do_eval",
        "--do_predict",
        "--max_seq_length=32",
        "--num_train_epochs=0.2",
    ]
    stderrs = [finish(worker) for worker in start_workers(command)]
    assert "Wrote 60 predictions" in stderrs[0]
    assert "Wrote" not in stderrs[1]
    assert (tmp_path / "export" / "saved_model.pb").is_file()
    lines = (tmp_path / "run" / "test_results.tsv").read_text().splitlines()
    assert len(lines) == 60
