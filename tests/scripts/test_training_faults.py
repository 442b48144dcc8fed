"""Faults in the middle of run_pretraining.py, and what they leave behind."""

import re

import pytest

from tests import script_runner
from tests.checkpoints import values


@pytest.fixture
def flags(pretraining_flags):
    return {
        **pretraining_flags,
        "do_train": True,
        "num_train_steps": 4,
        "num_warmup_steps": 0,
    }


def test_steps_that_are_not_finite_are_skipped_then_end_the_run(
    flags, tmp_path
):
    done = script_runner.run(
        "run_pretraining.py",
        tmp_path,
        **{
            **flags,
            "output_dir": "run",
            # The weights stay finite, and so does their norm.
            "learning_rate": 1e15,
            "num_train_steps": 100,
            "save_checkpoints_steps": 1,
            "max_nonfinite_steps": 3,
        },
    )
    assert "3 steps in a row" in done.error
    # The records of the batch are named: file and numbers.
    assert re.search(r"train\.tfrecord records \d+(, \d+){15}", done.error)
    assert done.stderr.count("was skipped") == 3
    kept = [path.name for path in (tmp_path / "run").glob("*.index")]
    assert kept


# A limit on the size of a file stands for a disk that is full: the first
# checkpoints fit, as their files are made before the limit is set.
FULL_DISK = f"""
import resource, runpy, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from training import checkpointing
save = checkpointing.Checkpointer.save
def limited(self, step):
    if step == 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))
    save(self, step)
checkpointing.Checkpointer.save = limited
runpy.run_path("{script_runner.ROOT}/run_pretraining.py", run_name="__main__")
"""


def test_a_full_disk_leaves_the_earlier_checkpoints(flags, tmp_path):
    script = tmp_path / "full_disk.py"
    script.write_text(FULL_DISK)
    done = script_runner.run(
        script,
        tmp_path,
        **flags
        | {
            "output_dir": tmp_path / "run",
            "save_checkpoints_steps": 1,
            "summary_steps": 0,
        },
    )
    assert "step 2 is intact" in done.error
    kept = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert "model.ckpt-2.index" in kept
    assert not [name for name in kept if name.startswith("model.ckpt-3")]
    assert values(tmp_path / "run", 2)["global_step"] == 2
