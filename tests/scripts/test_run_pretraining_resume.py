"""A run that is killed again and again ends with the same bits."""

import random
import signal
import time

import pytest
import tensorflow as tf

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import script_runner
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from training.loop.trainer import INTERRUPTED_STATUS

NUM_STEPS = 60
BATCH_SIZE = 8


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


def start_pretraining(flags, output_dir, **more):
    """Starts a pretraining in a folder."""
    flags = flags | {"output_dir": output_dir} | more
    return script_runner.start("run_pretraining.py", output_dir.parent, **flags)


@pytest.fixture(scope="module")
def undisturbed_values(flags, tmp_path_factory):
    """{name: value} of the last checkpoint of a run that nobody kills."""
    output_dir = tmp_path_factory.mktemp("undisturbed")
    start_pretraining(flags, output_dir).finish().check()
    return read_checkpoint(output_dir, NUM_STEPS)


def kill_somewhere(flags, output_dir, rng, signum, while_saving):
    """Starts the run and kills it after a random number of steps.

    Returns:
        the exit status, and whether a save was under way.
    """
    steps = list_checkpoint_steps(output_dir)
    goal = (steps[-1] if steps else 0) + rng.randint(1, 5)
    saving = False
    with start_pretraining(flags, output_dir) as run:
        while run.is_alive():
            steps = list_checkpoint_steps(output_dir)
            if steps and steps[-1] >= goal:
                saving = any(output_dir.glob("*.partial*"))
                if saving or not while_saving:
                    run.send(signum)
                    break
            # A save takes longer.
            time.sleep(0.005)
        return run.finish().status, saving


@pytest.mark.parametrize(
    "num_kills",
    [
        pytest.param(3, marks=pytest.mark.slow),
        pytest.param(10, marks=pytest.mark.soak),
    ],
)
def test_killed_runs_end_with_the_same_bits(
    flags, undisturbed_values, tmp_path, num_kills
):
    rng = random.Random(0)
    output_dir = tmp_path / "killed"
    caught_saving = 0
    for number in range(num_kills):
        # Every third gets Ctrl-C, the others are killed without notice, half of
        # these while they write a checkpoint.
        gets_ctrl_c = number % 3 == 2
        status, saving = kill_somewhere(
            flags,
            output_dir,
            rng,
            signal.SIGINT if gets_ctrl_c else signal.SIGKILL,
            while_saving=number % 3 == 0,
        )
        assert status == (
            INTERRUPTED_STATUS if gets_ctrl_c else -signal.SIGKILL
        )
        caught_saving += saving
        steps = list_checkpoint_steps(output_dir)
        assert steps[-1] < NUM_STEPS
    assert caught_saving >= num_kills // 3
    done = start_pretraining(flags, output_dir).finish().check()
    assert "Restored the checkpoint" in done.stderr
    assert_same_bits(read_checkpoint(output_dir, NUM_STEPS), undisturbed_values)
    assert not list(output_dir.glob("*.partial*"))
