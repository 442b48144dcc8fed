"""A run that is killed again and again ends with the same bits."""

import signal

import pytest
import tensorflow as tf

from model_folders.checkpoint_folders import (
    CHECKPOINT_PREFIX,
    list_checkpoint_steps,
)
from tests.support import script_runner
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.paths import ROOT
from training.loop.ending import STOPPED_STATUS

NUM_STEPS = 60
BATCH_SIZE = 8
# (ending of a file of a checkpoint, signal that comes just before this file
# gets its final name). The index is the second file, so the second kill leaves
# data without an index.
STOPS = [
    (".data-00000-of-00001", signal.SIGKILL),
    (".index", signal.SIGKILL),
    (".index", signal.SIGINT),
]


@pytest.fixture(scope="module")
def inputs(sample_records, tmp_path_factory):
    """A folder with the sample records in three files."""
    folder = tmp_path_factory.mktemp("inputs")
    records = list(tf.data.TFRecordDataset(sample_records))
    for number in range(3):
        with tf.io.TFRecordWriter(str(folder / f"{number}.tfrecord")) as writer:
            for record in records[number::3]:
                writer.write(record.numpy())
    # More than an epoch: the data starts anew within the run.
    assert len(records) < NUM_STEPS * BATCH_SIZE
    return folder


@pytest.fixture(scope="module")
def flags(pretraining_flags, inputs):
    """Flags of a run that packs its inputs.

    test_run_pretraining_histories.py does not.
    """
    return pretraining_flags | {
        "input_file": f"{inputs}/*.tfrecord",
        "do_train": True,
        "trim_padding": True,
        "train_batch_size": BATCH_SIZE,
        "num_train_steps": NUM_STEPS,
        "num_warmup_steps": 10,
        "save_checkpoints_steps": 1,
        "summary_steps": 0,
    }


def start_pretraining(flags, output_dir, script="run_pretraining.py"):
    """Starts a pretraining in a folder."""
    flags = flags | {"output_dir": output_dir}
    return script_runner.start(script, output_dir.parent, **flags)


@pytest.fixture(scope="module")
def undisturbed_values(flags, tmp_path_factory):
    """{name: value} of the last checkpoint of a run that nobody kills."""
    output_dir = tmp_path_factory.mktemp("undisturbed")
    start_pretraining(flags, output_dir).finish().check()
    return read_checkpoint(output_dir, NUM_STEPS)


def write_interrupted_script(path, file_name, signum):
    """Writes a script that pretrains, and gets a signal at a known point.

    The point is just before a file gets its final name, `file_name`. Python
    reports each change of a name to the hook before the name changes.
    """
    path.write_text(f"""
import os
import runpy
import sys

def send_signal(event, arguments):
    if event == "os.rename":
        if os.path.basename(arguments[1]) == {file_name!r}:
            os.kill(os.getpid(), {int(signum)})

sys.addaudithook(send_signal)
sys.argv[0] = {str(ROOT / "run_pretraining.py")!r}
runpy.run_path(sys.argv[0], run_name="__main__")
""")
    return path


def interrupt_save(flags, output_dir, step, file_ending, signum):
    """Pretrains until a signal comes before a file of a checkpoint is renamed.

    Returns:
        the exit status.
    """
    script = write_interrupted_script(
        output_dir.parent / "interrupted.py",
        f"{CHECKPOINT_PREFIX}-{step}{file_ending}",
        signum,
    )
    return start_pretraining(flags, output_dir, script).finish().status


def last_step_of(output_dir):
    """The step of the newest checkpoint, 0 before the first."""
    return (list_checkpoint_steps(output_dir) or [0])[-1]


@pytest.mark.parametrize(
    "num_stops",
    [
        pytest.param(3, marks=pytest.mark.slow),
        pytest.param(10, marks=pytest.mark.soak),
    ],
)
def test_killed_runs_end_with_the_same_bits(
    flags, undisturbed_values, tmp_path, num_stops
):
    output_dir = tmp_path / "killed"
    for number in range(num_stops):
        # One to four steps after the checkpoint that the run resumes from.
        step = last_step_of(output_dir) + 1 + number % 4
        file_ending, signum = STOPS[number % len(STOPS)]
        status = interrupt_save(flags, output_dir, step, file_ending, signum)
        if signum == signal.SIGKILL:
            assert status == -signal.SIGKILL
            assert last_step_of(output_dir) == step - 1
            assert list(output_dir.glob("*.partial*"))
        else:
            assert status == STOPPED_STATUS
            # The save is completed, and the next step is the last.
            assert last_step_of(output_dir) == step + 1
    done = start_pretraining(flags, output_dir).finish().check()
    assert "Restored the checkpoint" in done.stderr
    assert_same_bits(read_checkpoint(output_dir, NUM_STEPS), undisturbed_values)
    assert not list(output_dir.glob("*.partial*"))
