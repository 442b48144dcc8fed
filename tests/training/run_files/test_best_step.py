"""The best step of a run, in its history and in model.json."""

import types

import pytest

from files.json_files import read_json, write_json
from model_folders.model_json import MODEL_JSON_FILE
from training.run_files.best_step import BestEvaluation, BestStep
from training.run_files.history import History
from training.run_files.history_lines import HISTORY_FILE


def open_run(folder, is_chief=True, dev_set_checksum=0):
    """Returns (history, best step) of a run in a folder."""
    config = types.SimpleNamespace(
        is_chief=is_chief,
        batch_size=8,
        training=types.SimpleNamespace(summary_steps=0),
    )
    history = History.read(
        config,
        folder / HISTORY_FILE,
        folder,
        dev_set_checksum=dev_set_checksum,
    )
    return history, BestStep(folder, history, is_chief=is_chief)


def test_a_new_run_has_no_best_step(tmp_path):
    _, best_step = open_run(tmp_path)
    assert best_step.step is None
    assert best_step.find_evaluation() is None


def test_only_an_evaluation_on_the_same_dev_set_is_the_best(tmp_path):
    history, best_step = open_run(tmp_path, dev_set_checksum=7)
    history.add_evaluation(1, {"f1": 0.5})
    best_step.set(1)
    assert best_step.find_evaluation() == BestEvaluation(1, {"f1": 0.5})
    _, best_step = open_run(tmp_path, dev_set_checksum=8)
    best_step.set(1)
    assert best_step.find_evaluation() is None


def test_a_resumed_run_continues_with_the_best_step_of_its_checkpoint(tmp_path):
    history, _ = open_run(tmp_path)
    history.add_checkpoint(5, best_step=2)
    history.add_checkpoint(9, best_step=8)
    _, best_step = open_run(tmp_path)
    assert best_step.step == 8
    best_step.restore(5)
    assert best_step.step == 2
    # A checkpoint without a line.
    best_step.restore(6)
    assert best_step.step is None


@pytest.mark.parametrize(("is_chief", "expected"), [(True, 4), (False, None)])
def test_the_chief_writes_the_best_step_to_model_json(
    tmp_path, is_chief, expected
):
    file = tmp_path / MODEL_JSON_FILE
    write_json(file, {"version": 1})
    _, best_step = open_run(tmp_path, is_chief)
    best_step.set(4)
    assert best_step.step == 4
    assert read_json(file).get("best_step") == expected


def test_without_model_json_no_file_is_written(tmp_path):
    _, best_step = open_run(tmp_path)
    best_step.set(4)
    assert [*tmp_path.iterdir()] == []


def test_only_before_the_first_evaluation_any_dev_set_is_that_of_the_best_step(
    tmp_path,
):
    history, best_step = open_run(tmp_path, dev_set_checksum=7)
    assert best_step.has_this_dev_set()
    history.add_evaluation(1, {"f1": 0.5})
    best_step.set(1)
    assert best_step.has_this_dev_set()
    _, best_step = open_run(tmp_path, dev_set_checksum=8)
    best_step.set(1)
    assert not best_step.has_this_dev_set()
