"""history.jsonl and time, on real runs that are killed."""

import json
import shutil

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import pretraining_records, script_runner, tensorboard_events
from tests.support.script_runner import FinishedRun, split_flags
from tests.support.tasks.task_runs import check_resume
from training.run_files import history

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def flags(pretraining_flags, sample_records):
    """Flags of a pretraining that evaluates and saves every second step."""
    return pretraining_flags | split_flags(f"""
        --do_train --do_eval --num_train_steps=8
        --eval_input_file={sample_records} --eval_steps=2
        --max_eval_steps=2 --save_checkpoints_steps=2 --keep_checkpoint_max=0
        --summary_steps=1
    """)


def pretrain(folder, kill_when=lambda: False, **flags):
    """Pretrains in a folder, and returns the result of the script."""
    flags = flags | {"output_dir": folder}
    return script_runner.run(
        "run_pretraining.py", folder.parent, kill_when=kill_when, **flags
    )


def is_beyond_a_checkpoint(folder):
    """Whether steps after the fourth's checkpoint are written down."""
    steps = list_checkpoint_steps(folder)
    if not steps or steps[-1] < 4:
        return False
    lines = history.read_history(folder / history.HISTORY_FILE)
    return lines[-1]["step"] > steps[-1]


@pytest.fixture(scope="module")
def undisturbed(flags, tmp_path_factory):
    """A folder of 8 steps."""
    folder = tmp_path_factory.mktemp("histories") / "undisturbed"
    pretrain(folder, **flags).check()
    return folder


@pytest.fixture(scope="module")
def lines(undisturbed):
    """The lines of the history of `undisturbed`."""
    return history.read_history(undisturbed / history.HISTORY_FILE)


def test_a_history_has_a_line_for_each_step_evaluation_and_checkpoint(lines):
    steps = {
        kind: [line["step"] for line in lines if line["kind"] == kind]
        for kind in ("train", "eval", "checkpoint")
    }
    assert steps == {
        "train": list(range(1, 9)),
        "eval": [2, 4, 6, 8],
        "checkpoint": [2, 4, 6, 8],
    }


def test_a_history_shows_when_a_value_was_reached(lines):
    hours = [line["hours"] for line in lines]
    assert sorted(hours) == hours
    examples = {line["step"]: line["examples"] for line in lines}
    assert examples == {n: 16 * n for n in range(1, 9)}


def test_a_history_shows_the_learning_rate_of_each_step(lines):
    # The rate of the step itself: none of a step's update after 0 others.
    rates = {line["step"]: line["learning_rate"] for line in lines}
    assert rates[1] == 0.0
    assert rates[2] == pytest.approx(1e-3 / 2)
    assert rates[8] == pytest.approx(1e-3 / 8)


def test_a_history_and_tensorboard_show_the_same_evaluations(undisturbed):
    evaluated = tensorboard_events.check_evaluations(undisturbed)
    assert {*evaluated} == {2, 4, 6, 8}
    assert "masked_lm_accuracy" in evaluated[8]


def test_a_killed_run_has_the_same_history_and_weights(undisturbed, flags):
    flags = flags | {"output_dir": undisturbed}
    check_resume("run_pretraining.py", flags, is_beyond_a_checkpoint)


@pytest.fixture(scope="module")
def other_records(tmp_path_factory):
    """A file of other records than those of the runs."""
    folder = tmp_path_factory.mktemp("other_records")
    pretraining_records.create_records(folder, folder / "other", random_seed=7)
    return folder / "other"


def test_other_records_are_evaluated_without_a_line(
    undisturbed, flags, other_records, tmp_path
):
    folder = shutil.copytree(undisturbed, tmp_path / "run")
    before = (folder / history.HISTORY_FILE).read_bytes()
    more = {"do_train": False, "eval_input_file": other_records}
    pretrain(folder, **flags | more).check()
    assert (folder / history.HISTORY_FILE).read_bytes() == before


def test_no_training_resumes_on_other_records(
    undisturbed, flags, other_records, tmp_path
):
    folder = shutil.copytree(undisturbed, tmp_path / "run")
    more = {"input_file": other_records, "num_train_steps": 9}
    assert "input_file" in pretrain(folder, **flags | more).error


@pytest.fixture(scope="module")
def short_run(flags, tmp_path_factory):
    """A run whose time is over after its first step."""
    folder = tmp_path_factory.mktemp("short") / "run"
    more = {
        "do_eval": False,
        "eval_input_file": None,
        "max_hours": 1e-9,
        "keep_optimizer": False,
    }
    done = pretrain(folder, **flags | more).check()
    return FinishedRun(folder, flags | more, done)


def test_training_ends_when_its_time_is_over(short_run):
    assert list_checkpoint_steps(short_run.folder) == [1]


def test_with_more_time_a_run_resumes_and_counts_on_from_its_hours(
    short_run, tmp_path
):
    folder = shutil.copytree(short_run.folder, tmp_path / "run")
    path = folder / history.HISTORY_FILE
    # As if the first step had taken two hours more.
    before = [
        entry | {"hours": entry["hours"] + 2}
        for entry in history.read_history(path)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in before))
    pretrain(folder, **short_run.flags | {"max_hours": 4}).check()
    lines = history.read_history(path)
    steps = [line["step"] for line in lines if line["kind"] == "train"]
    assert steps == list(range(1, 9))
    hours = [line["hours"] for line in lines]
    assert hours == sorted(hours)
    assert 2 < hours[0] < hours[-1] < 2.5
