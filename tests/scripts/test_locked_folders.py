"""Two processes at once on one output, and what a killed one leaves."""

import concurrent.futures
import json
import threading
import time

import pytest

from tests import script_runner
from training.config import DeviceConfig


def test_a_second_run_in_the_same_folder(tmp_path, pretraining_flags):
    flags = pretraining_flags | {
        "output_dir": "run",
        "do_train": True,
        "num_train_steps": 100_000,
        "save_checkpoints_steps": 1,
    }
    folder, ended = tmp_path / "run", threading.Event()

    def run(**more):
        return script_runner.run("run_pretraining.py", tmp_path, **flags | more)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = pool.submit(run, kill_when=ended.is_set)
        while not first.done() and not list(folder.glob("*.index")):
            time.sleep(0.1)
        pid = json.loads((folder / ".lock").read_text())["pid"]
        try:
            second, exporting = (
                run(),
                # Whatever it asks for, it would write there.
                run(do_train=False, export_dir="export"),
            )
        finally:
            ended.set()
    assert first.result().status < 0, first.result().stderr
    for each in (second, exporting):
        assert f"--output_dir=run is in use by process {pid}" in each.error
    assert not (tmp_path / "export").exists()
    assert (folder / ".lock").exists()

    step = max(
        int(path.stem.rpartition("-")[2]) for path in folder.glob("*.index")
    )
    # The warmup and decay belong to the number of steps, so it resumes with
    # that; the folder is free again when it ends.
    done = run(num_train_steps=step + 1).check()
    assert f"left unfinished by process {pid}" in done.stderr
    assert f"Training step {step + 1} of {step + 1}" in done.stderr
    assert not (folder / ".lock").exists()


WORKERS = {"worker": ["a", "b"]}
WITH_CHIEF = {"chief": ["a"], "worker": ["b"]}


@pytest.mark.parametrize(
    "cluster_spec, task, expected",
    [
        (None, None, True),
        (WORKERS, {"index": 0}, True),
        (WORKERS, {"type": "worker", "index": 0}, True),
        (WORKERS, {"type": "worker", "index": "1"}, False),
        (WITH_CHIEF, {"type": "worker", "index": 0}, False),
        (WITH_CHIEF, {"type": "chief", "index": 0}, True),
    ],
)
def test_of_several_workers_the_chief_locks(
    monkeypatch, cluster_spec, task, expected
):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if cluster_spec:
        config = {"cluster": cluster_spec, "task": task}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    assert DeviceConfig().is_chief == expected
    # Their variable does not concern a run on a TPU, nor one on one device.
    assert DeviceConfig(use_tpu=True).is_chief
    assert DeviceConfig(distribution_strategy="one_device").is_chief


@pytest.mark.parametrize(
    "config",
    [
        {"task": ["worker"]},
        {"cluster": "a"},
        {"task": {"type": "worker", "index": "first"}},
    ],
)
def test_a_task_of_no_known_form_is_refused(monkeypatch, config):
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(ValueError, match="^TF_CONFIG: "):
        assert DeviceConfig().is_chief
