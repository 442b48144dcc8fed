"""Whether the best step of a run outlives kills, resumes and other data.

tests/training/loop/test_best_step_callback.py tests what uses it.
"""

import contextlib
import os
import shutil

import pytest

import modeling
from model_folders.checkpoint_folders import (
    find_best_checkpoint,
    list_checkpoint_steps,
)
from tests.support.checkpoints import assert_same_bits, read_checkpoint
from tests.support.log_lines import logged_warnings
from tests.support.output_files import read_results
from tests.support.tasks import scripted_task, toy_task
from tests.support.tasks.scripted_task import (
    WITHOUT_TRAINING,
    exported_steps,
    recorded_best_step,
    remove_checkpoints,
    run_task,
    run_without_training,
)
from training.preparation.starting_point_loading import has_own_run
from training.run_files import history, model_description

# What the log says of a run without the files of its best step, which is 4.
MISSING_BEST_STEP = "The run's best step, 4, is missing"


@pytest.fixture
def flags(tmp_path):
    """Flags of a run of three epochs that evaluates each of them."""
    return scripted_task.create_flags(tmp_path)


@pytest.mark.parametrize(
    ("name", "error", "when"),
    # The file system has no links, or the run is killed before or between two.
    [
        ("link", OSError, 1),
        ("rename", KeyboardInterrupt, 1),
        ("rename", KeyboardInterrupt, 2),
    ],
)
def test_the_best_step_is_kept_where_its_files_cannot_be_linked(
    name, error, when, flags, tmp_path, monkeypatch
):
    run = tmp_path / "run"
    function = getattr(os, name)
    calls = []

    def call_or_fail(*paths):
        calls.append(paths)
        if len(calls) == when:
            raise error
        function(*paths)

    monkeypatch.setattr(os, name, call_or_fail)
    with contextlib.suppress(KeyboardInterrupt):
        run_task(flags, [0.5, 0.6, 0.9])
    assert find_best_checkpoint(run).endswith("model.ckpt-6")
    # The next checkpoint removes the files of step 6, but not its copy.
    changes = {"num_train_epochs": 4, "keep_checkpoint_max": 1}
    run_task(flags, [0.8, 0.9], **changes)
    assert exported_steps(tmp_path) == {6}
    assert list_checkpoint_steps(run) == [8]


def test_a_last_step_that_is_the_best_is_stored_once(flags, tmp_path):
    run = tmp_path / "run"
    run_task(flags, [0.5, 0.6, 0.9])
    for end in ("index", "data-00000-of-00001"):
        name = f"model.ckpt-6.{end}"
        assert (run / name).samefile(run / "best" / name)


def test_a_better_step_replaces_the_best_one(flags, tmp_path):
    run_task(flags, [0.5, 0.6, 0.9])
    run_task(flags, [0.95], num_train_epochs=4)
    assert list_checkpoint_steps(tmp_path / "run/best") == [8]


@pytest.mark.slow
@pytest.mark.parametrize("load_best", [True, False])
def test_init_checkpoint_replaces_removed_checkpoints_in_an_evaluation(
    load_best, flags, tmp_path, caplog
):
    """The description of the weights is still that of --output_dir."""
    run_task(flags, [0.5, 0.6, 0.9])
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    remove_checkpoints(tmp_path / "run")
    start = f"{tmp_path}/other/model.ckpt-6"
    evaluation = flags | WITHOUT_TRAINING | {"init_checkpoint": start}
    config = toy_task.create_command(evaluation).config
    assert has_own_run(config)
    run_task(evaluation, [0.9], load_best=load_best)
    assert exported_steps(tmp_path) == {6}
    assert not logged_warnings(caplog)


@pytest.mark.slow
def test_a_restarted_run_forgets_its_best_step(flags, tmp_path, caplog):
    run_task(flags, [0.5, 0.6, 0.9])
    remove_checkpoints(tmp_path / "run")
    # The old best is of step 6, and would also pass for the newest weights.
    run_task(flags, [0.3, 0.2], num_train_epochs=2, learning_rate=1e-7)
    assert caplog.text.count("starts again") == 1
    assert read_results(tmp_path / "run")["accuracy"] == 0.3
    assert exported_steps(tmp_path) == {2}
    assert list_checkpoint_steps(tmp_path / "run/best") == [2]
    assert recorded_best_step(tmp_path) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 12345])
def test_a_new_run_ignores_the_best_step_of_an_earlier_run(
    seed, flags, tmp_path
):
    run_task(flags, [0.5, 0.9, 0.6])
    remove_checkpoints(tmp_path / "run")
    # It evaluates nothing while it trains, and goes beyond the old best.
    new = {"evaluate_each_epoch": False, "learning_rate": 1e-7, "seed": seed}
    run_task(flags, [0.3], **new)
    run_without_training(flags, [0.3])
    assert exported_steps(tmp_path) == {6}
    # Nor does the folder mean it, as a start or to be converted.
    checkpoint = modeling.find_checkpoint(tmp_path / "run")
    assert checkpoint == f"{tmp_path}/run/model.ckpt-6"


@pytest.fixture
def run_without_best(flags, tmp_path):
    """The folder of a run without the files of its best step."""
    run_task(flags, [0.5, 0.9, 0.6])
    shutil.rmtree(tmp_path / "run/best")
    return tmp_path / "run"


def test_a_command_warns_of_a_missing_best_step(
    run_without_best, flags, caplog
):
    run_without_training(flags, [0.3])
    assert MISSING_BEST_STEP in caplog.text


@pytest.mark.parametrize("run_step", ["reported", "last"])
def test_loading_warns_of_a_missing_best_step_but_for_the_last_step(
    run_step, run_without_best, caplog
):
    model = toy_task.BertClassifier(modeling.load_config(run_without_best), 2)
    modeling.load_checkpoint(model, run_without_best, run_step=run_step)
    assert (MISSING_BEST_STEP in caplog.text) == (run_step == "reported")


def test_a_command_uses_no_better_step_than_model_json_names(flags, tmp_path):
    """A run that was killed between the two leaves such a step."""
    run_task(flags, [0.5, 0.9, 0.6])
    for file in (tmp_path / "run").glob("model.ckpt-6.*"):
        shutil.copy(file, tmp_path / "run/best")
    run_without_training(flags, [0.3])
    assert read_results(tmp_path / "run")["global_step"] == 4


def test_a_kill_at_the_start_of_a_resume_keeps_the_best_step(
    flags, tmp_path, monkeypatch
):
    run_task(flags, [0.5, 0.9, 0.6])
    best_steps = []
    original = model_description.write_json

    def write_json(path, contents):
        original(path, contents)
        best_steps.append(find_best_checkpoint(tmp_path / "run"))

    monkeypatch.setattr(model_description, "write_json", write_json)
    run_task(flags, [0.7, 0.9], num_train_epochs=4)
    assert {*best_steps} == {str(tmp_path / "run/best/model.ckpt-4")}


@pytest.mark.slow
def test_a_resume_on_the_same_dev_set_keeps_the_best_step(flags, tmp_path):
    run_task(flags, [0.5, 0.9], num_train_epochs=2)
    run_task(flags, [0.7, 0.9])
    assert recorded_best_step(tmp_path) == 4


@pytest.mark.slow
def test_an_evaluation_on_another_dev_set_keeps_the_best_step(flags, tmp_path):
    run_task(flags, [0.5, 0.9], num_train_epochs=2)
    run_without_training(flags, [0.3], first_example=1)
    run_task(flags, [0.8, 0.9])
    assert recorded_best_step(tmp_path) == 4


@pytest.mark.slow
def test_a_training_on_another_dev_set_chooses_the_best_step_anew(
    flags, tmp_path, caplog
):
    run_task(flags, [0.5, 0.9], num_train_epochs=2)
    run_task(flags, [0.7, 0.2], num_train_epochs=4, first_example=1)
    assert caplog.text.count("another dev set") == 1
    assert recorded_best_step(tmp_path) == 6
    assert exported_steps(tmp_path) == {6}


@pytest.mark.slow
def test_a_resume_from_before_the_best_step_finds_the_same_steps(
    flags, tmp_path
):
    changes = {"num_train_epochs": 6, "save_checkpoints_steps": 6}
    accuracies = [0.5, 0.7, 0.6, 0.65, 0.9, 0.8]
    undisturbed = flags | {"output_dir": f"{tmp_path}/whole"}
    run_task(undisturbed, accuracies, **changes)
    # The run stops after step 10, its best step, and resumes from step 6.
    with pytest.raises(StopIteration):
        run_task(flags, accuracies[:5], **changes)
    assert list_checkpoint_steps(tmp_path / "run") == [6]
    assert recorded_best_step(tmp_path) == 10
    run_task(flags, accuracies[3:], **changes)
    whole = tmp_path / "whole"
    assert_same_bits(
        read_checkpoint(tmp_path / "run/best"), read_checkpoint(whole / "best")
    )
    lines = [
        [
            line | {"hours": 0}
            for line in history.read_history(run / "history.jsonl")
        ]
        for run in (whole, tmp_path / "run")
    ]
    assert lines[0] == lines[1]
    best = [line["best_step"] for line in lines[0] if "best_step" in line]
    assert best == [4, 10]
