"""A run on one device, on two, and by two workers, which end together.

All have the same losses, as has a run that adds up gradients of small batches.
"""

import contextlib
import json
import signal
import socket

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import (
    script_runner,
    tensorboard_events,
)
from tests.support.models import NO_DROPOUT, write_config
from tests.support.paths import ROOT
from tests.support.tasks import task_files
from tests.support.tasks.task_runs import fine_tuning_flags
from training.loop.ending import AGREEMENT_STEPS, STOPPED_STATUS

# Steps that are compared. A run makes some more until a signal stops it.
NUM_STEPS = 20
LOST = "error: another worker was lost"


@pytest.fixture(scope="module")
def flags(pretraining_flags, tmp_path_factory):
    """Flags of a pretraining without dropout."""
    path = tmp_path_factory.mktemp("configs") / "bert_config.json"
    write_config(path, num_hidden_layers=1, **NO_DROPOUT)
    return pretraining_flags | {
        "bert_config_file": path,
        "do_train": True,
        "num_train_steps": 2000,
        "num_warmup_steps": 5,
        "summary_steps": 1,
    }


def pretrain(flags, output_dir, script="run_pretraining.py", **more):
    """Trains for NUM_STEPS and some more; returns the losses."""
    flags = flags | {"output_dir": output_dir} | more
    with script_runner.start(script, output_dir, **flags) as run:
        stop_after_some_steps(run, output_dir)
        assert run.finish().status == STOPPED_STATUS
    return recorded_losses(output_dir)


def stop_after_some_steps(run, output_dir):
    """Stops a run that has written down NUM_STEPS steps."""
    run.wait_until(lambda: len(recorded_losses(output_dir)) >= NUM_STEPS)
    run.send(signal.SIGTERM)


def recorded_losses(output_dir):
    """Returns the first losses, by step, as TensorBoard would show them."""
    losses = tensorboard_events.read_scalars(output_dir).get("loss", {})
    return {step: losses[step] for step in losses if step <= NUM_STEPS}


@pytest.fixture(scope="module")
def one_device(flags, tmp_path_factory):
    """{step: loss} of a run on one device."""
    losses = pretrain(flags, tmp_path_factory.mktemp("one_device"))
    assert sorted(losses) == list(range(1, NUM_STEPS + 1))
    return losses


@pytest.mark.slow
def test_two_devices_have_the_losses_of_one(flags, one_device, tmp_path):
    code = f"runpy.run_path('{ROOT}/run_pretraining.py', run_name='__main__')"
    script = script_runner.write_script_on_devices(
        tmp_path / "two_devices.py", code
    )
    losses = pretrain(
        flags,
        tmp_path,
        script,
        distribution_strategy="mirrored",
        trim_padding=True,
    )
    assert losses == pytest.approx(one_device, rel=0, abs=1e-5)


def free_ports(count):
    """Returns ports that no process uses."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for port_socket in sockets:
            port_socket.bind(("127.0.0.1", 0))
        return [port_socket.getsockname()[1] for port_socket in sockets]
    finally:
        for port_socket in sockets:
            port_socket.close()


@contextlib.contextmanager
def workers(flags, output_dir, script="run_pretraining.py"):
    """Yields the two processes of a training, the chief first."""
    addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
    tasks = [
        {
            "cluster": {"worker": addresses},
            "task": {"type": "worker", "index": index},
        }
        for index in range(2)
    ]
    flags = flags | {"output_dir": output_dir}
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                script_runner.start(
                    script,
                    output_dir.parent,
                    environment={"TF_CONFIG": json.dumps(task)},
                    **flags,
                )
            )
            for task in tasks
        ]


def wait_for_step(run, output_dir, step):
    """Waits until a run has saved a step."""
    run.wait_until(
        lambda: max(list_checkpoint_steps(output_dir), default=0) >= step
    )


@pytest.mark.slow
def test_two_workers_have_the_losses_of_one_and_end_together(
    flags, one_device, tmp_path
):
    with workers(flags, tmp_path) as pair:
        stop_after_some_steps(pair[1], tmp_path)
        results = [worker.finish() for worker in pair]
    losses = recorded_losses(tmp_path)
    assert losses == pytest.approx(one_device, rel=0, abs=1e-5)
    statuses = [result.status for result in results]
    assert statuses == [STOPPED_STATUS] * 2, results
    (saved,) = list_checkpoint_steps(tmp_path)
    # Workers agree to stop only now and then.
    assert saved % AGREEMENT_STEPS == 0
    for result in results:
        assert f"Stopped after step {saved}," in result.stderr


@pytest.mark.slow
def test_a_resumed_chief_that_loses_its_worker_ends(flags, tmp_path):
    with workers(flags, tmp_path) as pair:
        stop_after_some_steps(pair[1], tmp_path)
        for worker in pair:
            worker.finish()
    (saved,) = list_checkpoint_steps(tmp_path)
    flags = flags | {"save_checkpoints_steps": 10}
    with workers(flags, tmp_path) as (chief, worker):
        wait_for_step(chief, tmp_path, saved + 10)
        worker.send(signal.SIGKILL)
        lost = chief.finish()
    restored = f"Restored the checkpoint {tmp_path}/model.ckpt-{saved}"
    assert restored in lost.stderr
    assert lost.error.startswith(LOST)


@pytest.mark.slow
def test_a_worker_that_loses_the_chief_ends_with_one_sentence(flags, tmp_path):
    flags = flags | {"save_checkpoints_steps": 10}
    with workers(flags, tmp_path / "run") as (chief, worker):
        wait_for_step(worker, tmp_path / "run", 10)
        chief.send(signal.SIGKILL)
        assert worker.finish().error.startswith(LOST)


@pytest.mark.slow
def test_a_callback_that_ends_one_worker_ends_the_other(flags, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, runpy\n"
        "from training.loop.best_step_callback import BestStepCallback\n"
        "from training.loop.callbacks import Decision\n"
        "is_second = '\"index\": 1' in os.environ['TF_CONFIG']\n"
        "def on_step(self, step, logs):\n"
        "    if step != 7:\n"
        "        return Decision.NONE\n"
        "    return Decision.END if is_second else Decision.GO_ON\n"
        "BestStepCallback.on_step = on_step\n"
        f"runpy.run_path('{ROOT}/run_pretraining.py', run_name='__main__')\n"
    )
    flags = flags | {"eval_input_file": flags["input_file"]}
    with workers(flags, tmp_path / "run", script) as pair:
        for worker in pair:
            worker.finish().check()
    assert list_checkpoint_steps(tmp_path / "run") == [7]


@pytest.mark.slow
def test_two_workers_fine_tune_and_only_the_chief_writes(flags, tmp_path):
    for name, count in (("train", 16), ("val", 8), ("test", 5)):
        task_files.write_swag(tmp_path / f"{name}.csv", count)
    fine_tuning = fine_tuning_flags(
        tmp_path,
        flags["bert_config_file"].parent,
        export_dir=tmp_path / "export",
        num_train_epochs=1,
    )
    with workers(fine_tuning, tmp_path / "run", "run_swag.py") as pair:
        stderrs = [worker.finish().check().stderr for worker in pair]
    wrote = "Wrote 5 predictions"
    assert [wrote in stderr for stderr in stderrs] == [True, False]
    assert (tmp_path / "export" / "saved_model.pb").is_file()
    lines = (tmp_path / "run" / "test_results.tsv").read_text().splitlines()
    assert len(lines) == 5


def test_accumulation_equals_one_large_batch(flags, one_device, tmp_path):
    losses = pretrain(
        flags, tmp_path, train_batch_size=4, gradient_accumulation_steps=4
    )
    assert losses == pytest.approx(one_device, rel=0, abs=1e-6)
