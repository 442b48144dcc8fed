"""Whether the best step of a run outlives kills, resumes and other data.

tests/training/loop/test_best_step.py tests what uses it.
"""

import contextlib
import os
import shutil

import pytest

import modeling
from model_folders.checkpoint_folders import checkpoint_steps, find_best
from tests.support import scripted_task, toy_task
from tests.support.checkpoints import assert_same_bits, values
from tests.support.script_runner import read_results
from tests.support.scripted_task import (
    LATER,
    best_of,
    remove_checkpoints,
    run_later,
    run_task,
    used_step,
)
from training.run import history, run_description
from training.start import read_initial_preset


@pytest.fixture
def options(tmp_path):
    """Flags of a run of three epochs that evaluates each of them."""
    return scripted_task.create_options(tmp_path)


@pytest.mark.parametrize(
    ("name", "error", "when"),
    # The file system has no links, or the run is killed before or between two.
    [
        ("link", OSError, 1),
        ("rename", KeyboardInterrupt, 1),
        ("rename", KeyboardInterrupt, 2),
    ],
)
def test_the_best_step_is_kept_if_linking_its_files_fails(
    name, error, when, options, tmp_path, monkeypatch
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
        run_task(options, [0.5, 0.6, 0.9])
    assert find_best(run).endswith("model.ckpt-6")
    # The next checkpoint removes the files of step 6, but not its copy.
    flags = {"num_train_epochs": 4, "keep_checkpoint_max": 1}
    run_task(options, [0.8, 0.9], **flags)
    assert used_step(tmp_path) == {6}
    assert checkpoint_steps(run) == [8]


def test_a_best_step_that_is_the_last_is_stored_once(options, tmp_path):
    run = tmp_path / "run"
    run_task(options, [0.5, 0.6, 0.9])
    for end in ("index", "data-00000-of-00001"):
        name = f"model.ckpt-6.{end}"
        assert (run / name).samefile(run / "best" / name)


def test_a_better_step_replaces_the_best_one(options, tmp_path):
    run_task(options, [0.5, 0.6, 0.9])
    run_task(options, [0.95], num_train_epochs=4)
    assert checkpoint_steps(tmp_path / "run/best") == [8]


@pytest.mark.slow
@pytest.mark.parametrize("load_best", [True, False])
def test_without_its_checkpoints_a_run_is_evaluated_with_the_weights_of_a_flag(
    load_best, options, tmp_path, caplog
):
    """A command that does not train uses them and their description."""
    run_task(options, [0.5, 0.6, 0.9])
    shutil.copytree(tmp_path / "run", tmp_path / "other")
    remove_checkpoints(tmp_path / "run")
    start = f"{tmp_path}/other/model.ckpt-6"
    later = options | LATER | {"init_checkpoint": start}
    config = toy_task.parse_flags(later).config
    assert read_initial_preset(config).path == options["output_dir"]
    run_task(later, [0.9], load_best=load_best)
    assert used_step(tmp_path) == {6}
    assert "starts again" not in caplog.text


@pytest.mark.slow
def test_a_run_that_starts_again_forgets_its_best_step(
    options, tmp_path, caplog
):
    run_task(options, [0.5, 0.6, 0.9])
    remove_checkpoints(tmp_path / "run")
    # The old best is of step 6, and would also pass for the newest weights.
    run_task(options, [0.3, 0.2], num_train_epochs=2, learning_rate=1e-7)
    assert caplog.text.count("starts again") == 1
    assert read_results(tmp_path / "run")["accuracy"] == 0.3
    assert used_step(tmp_path) == {2}
    assert checkpoint_steps(tmp_path / "run/best") == [2]
    assert best_of(tmp_path) == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 12345])
def test_the_best_step_of_an_earlier_run_is_not_predicted_with(
    seed, options, tmp_path
):
    run_task(options, [0.5, 0.9, 0.6])
    remove_checkpoints(tmp_path / "run")
    # It evaluates nothing while it trains, and goes beyond the old best.
    new = {"evaluate_each_epoch": False, "learning_rate": 1e-7, "seed": seed}
    run_task(options, [0.3], **new)
    run_later(options, [0.3])
    assert used_step(tmp_path) == {6}
    # Nor does the folder mean it, as a start or to be converted.
    checkpoint = modeling.find_checkpoint(tmp_path / "run")
    assert checkpoint == f"{tmp_path}/run/model.ckpt-6"


MISSING = "The run's best step, 4, is missing"


@pytest.fixture
def without_best(options, tmp_path):
    """The folder of a run without the files of its best step."""
    run_task(options, [0.5, 0.9, 0.6])
    shutil.rmtree(tmp_path / "run/best")
    return tmp_path / "run"


def test_a_command_warns_of_a_missing_best_step(without_best, options, caplog):
    run_later(options, [0.3])
    assert MISSING in caplog.text


@pytest.mark.parametrize("best", [None, False])
def test_loading_warns_of_a_missing_best_step_unless_told_not_to_use_it(
    best, without_best, caplog
):
    model = toy_task.BertClassifier(modeling.load_config(without_best), 2)
    modeling.load_checkpoint(model, without_best, best=best)
    assert (MISSING in caplog.text) == (best is None)


def test_a_better_step_that_model_json_does_not_name_is_not_used(
    options, tmp_path
):
    """A run that was killed between the two leaves such a step."""
    run_task(options, [0.5, 0.9, 0.6])
    for file in (tmp_path / "run").glob("model.ckpt-6.*"):
        shutil.copy(file, tmp_path / "run/best")
    run_later(options, [0.3])
    assert read_results(tmp_path / "run")["global_step"] == 4


def test_a_kill_at_the_start_of_a_resume_keeps_the_best_step(
    options, tmp_path, monkeypatch
):
    run_task(options, [0.5, 0.9, 0.6])
    best_steps = []
    original = run_description.write_json

    def write_json(path, contents):
        original(path, contents)
        best_steps.append(find_best(tmp_path / "run"))

    monkeypatch.setattr(run_description, "write_json", write_json)
    run_task(options, [0.7, 0.9], num_train_epochs=4)
    assert {*best_steps} == {str(tmp_path / "run/best/model.ckpt-4")}


@pytest.mark.slow
def test_a_resume_on_the_same_dev_set_keeps_the_best_step(options, tmp_path):
    run_task(options, [0.5, 0.9], num_train_epochs=2)
    run_task(options, [0.7, 0.9])
    assert best_of(tmp_path) == 4


@pytest.mark.slow
def test_an_evaluation_on_another_dev_set_keeps_the_best_step(
    options, tmp_path
):
    run_task(options, [0.5, 0.9], num_train_epochs=2)
    run_later(options, [0.3], first_example=1)
    run_task(options, [0.8, 0.9])
    assert best_of(tmp_path) == 4


@pytest.mark.slow
def test_a_training_on_another_dev_set_chooses_the_best_step_anew(
    options, tmp_path, caplog
):
    run_task(options, [0.5, 0.9], num_train_epochs=2)
    run_task(options, [0.7, 0.2], num_train_epochs=4, first_example=1)
    assert caplog.text.count("another dev set") == 1
    assert best_of(tmp_path) == 6
    assert used_step(tmp_path) == {6}


@pytest.mark.slow
def test_a_resume_from_before_the_best_step_finds_the_same_steps(
    options, tmp_path
):
    flags = {"num_train_epochs": 6, "save_checkpoints_steps": 6}
    figures = [0.5, 0.7, 0.6, 0.65, 0.9, 0.8]
    undisturbed = options | {"output_dir": f"{tmp_path}/whole"}
    run_task(undisturbed, figures, **flags)
    # The run stops after step 10, its best step, and resumes from step 6.
    with pytest.raises(StopIteration):
        run_task(options, figures[:5], **flags)
    assert checkpoint_steps(tmp_path / "run") == [6]
    assert best_of(tmp_path) == 10
    run_task(options, figures[3:], **flags)
    whole = tmp_path / "whole"
    assert_same_bits(values(tmp_path / "run/best"), values(whole / "best"))
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
