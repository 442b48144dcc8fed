"""Early stopping, on real runs of run_classifier.py."""

import concurrent.futures
import contextlib
import random
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from files.json_files import read_json
from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import script_runner
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.fresh_process import ProcessResult
from tests.support.tasks.task_runs import fine_tuning_flags

STEPS_PER_EPOCH = 8
PATIENCE = 3


@pytest.fixture(scope="module")
def flags(tiny, tmp_path_factory):
    """Flags of a task of 8 steps an epoch, which is learned in a few."""
    data_dir = tmp_path_factory.mktemp("boats")
    rng = random.Random(1)
    for name, count in (("train", 64), ("dev", 24)):
        lines = ["text\tlabel"]
        for _ in range(count):
            label = rng.choice(("red", "blue"))
            place = rng.choice(("river", "water", "boat", "island"))
            # In a tenth of the lines, no word tells the label.
            seen = label if rng.random() < 0.9 else "green"
            lines.append(f"the {seen} one is near the {place}\t{label}")
        (data_dir / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return fine_tuning_flags(
        data_dir,
        tiny / "one_block",
        task_name="csv",
        max_seq_length=16,
        train_batch_size=8,
        learning_rate=1e-3,
        num_train_epochs=20,
        do_predict=False,
    )


def best_of(folder):
    """Returns the best step of a run, None if it has none so far."""
    # The run may be writing the file just now.
    with contextlib.suppress(OSError, ValueError):
        return read_json(folder / "model.json").get("best_step")


def run_task(flags, output_dir, kill_when=lambda: False):
    """Runs the task in a folder, until it ends or shall be killed."""
    changes = {
        "output_dir": output_dir,
        "early_stopping_patience": PATIENCE,
        # No multiple of it is the end of the first epochs.
        "save_checkpoints_steps": 3,
    }
    return script_runner.run(
        "run_classifier.py",
        output_dir.parent,
        kill_when=kill_when,
        **flags | changes,
    )


def last_saved_step(folder):
    """Returns the last step that a run has saved, 0 before the first."""
    return (list_checkpoint_steps(folder) or [0])[-1]


class Runs(NamedTuple):
    """A run, and the same run killed twice.

    Attributes:
        undisturbed: folder of the run.
        killed: folder of the run that was killed.
        last_result: result of the last command of the killed run.
    """

    undisturbed: Path
    killed: Path
    last_result: ProcessResult


@pytest.fixture(scope="module")
def runs(flags, tmp_path_factory):
    """The Runs of the task."""
    folder = tmp_path_factory.mktemp("runs")
    undisturbed, killed = folder / "undisturbed", folder / "killed"

    def run_and_kill(kill_when):
        assert run_task(flags, killed, kill_when).status == -signal.SIGKILL

    with concurrent.futures.ThreadPoolExecutor() as pool:
        undisturbed_run = pool.submit(run_task, flags, undisturbed)
        # In the first epochs the best is found again and again.
        run_and_kill(lambda: best_of(killed))
        undisturbed_run.result().check()
    assert "Run its command again" in (killed / "README.md").read_text()
    # Killed again, after more steps that are no better than the best one.
    best_step = best_of(undisturbed)
    run_and_kill(lambda: last_saved_step(killed) > best_step + 3)
    assert best_step < last_saved_step(killed) < last_saved_step(undisturbed)
    return Runs(undisturbed, killed, run_task(flags, killed).check())


@pytest.mark.slow
def test_a_run_stops_when_the_best_step_is_older_than_the_patience(runs):
    best_step = best_of(runs.undisturbed)
    assert best_step > STEPS_PER_EPOCH
    last_step = last_saved_step(runs.undisturbed)
    assert last_step == best_step + PATIENCE * STEPS_PER_EPOCH


@pytest.mark.slow
def test_a_killed_run_resumes_and_stops_early(runs):
    assert "Restored the checkpoint" in runs.last_result.stderr
    assert last_saved_step(runs.killed) == last_saved_step(runs.undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["", "best"])
def test_a_killed_run_ends_with_the_same_weights(runs, place):
    assert_same_bits(
        read_checkpoint(runs.killed / place),
        read_checkpoint(runs.undisturbed / place),
    )


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_best_step(runs):
    assert best_of(runs.killed) == best_of(runs.undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["eval_results.txt", "best/labels.txt"])
def test_a_killed_run_ends_with_the_same_results(runs, name):
    expected = (runs.undisturbed / name).read_text()
    assert (runs.killed / name).read_text() == expected
