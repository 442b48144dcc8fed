"""The best step of a run, in its history and in model.json."""

import pytest

from files.json_files import read_json, write_json
from model_folders.model_json import MODEL_JSON_FILE
from model_folders.scores import Evaluation, Scores
from tests.support.two_weight_model import create_loop_config
from training.run_files.best_step import BestStep
from training.run_files.history import History


def evaluate(step):
    """Returns an evaluation of a step, whose scores are the same for all."""
    return Evaluation(step, Scores({"f1": 0.5}))


def read_best_step(folder, is_chief=True, dev_set_checksum=0):
    """Returns (history, best step) of a run in a folder."""
    config = create_loop_config(folder, train_batch_size=8)
    history = History.read(config, dev_set_checksum=dev_set_checksum)
    return history, BestStep(folder, history, is_chief=is_chief)


def test_a_new_run_has_no_best_step(tmp_path):
    _, best_step = read_best_step(tmp_path)
    assert best_step.step is None
    assert best_step.find_evaluation() is None


def test_only_an_evaluation_on_the_same_dev_set_is_the_best(tmp_path):
    history, best_step = read_best_step(tmp_path, dev_set_checksum=7)
    history.add_evaluation(evaluate(1))
    best_step.record(1)
    assert best_step.find_evaluation() == evaluate(1)
    _, best_step = read_best_step(tmp_path, dev_set_checksum=8)
    best_step.record(1)
    assert best_step.find_evaluation() is None


def test_a_resumed_run_continues_with_the_best_step_of_its_checkpoint(tmp_path):
    history, _ = read_best_step(tmp_path)
    history.add_checkpoint(5, best_step=2)
    history.add_checkpoint(9, best_step=8)
    _, best_step = read_best_step(tmp_path)
    assert best_step.step == 8
    best_step.resume(5)
    assert best_step.step == 2
    # A checkpoint without a line.
    best_step.resume(6)
    assert best_step.step is None


@pytest.mark.parametrize(("is_chief", "expected"), [(True, 4), (False, None)])
def test_the_chief_writes_the_best_step_to_model_json(
    tmp_path, is_chief, expected
):
    file = tmp_path / MODEL_JSON_FILE
    write_json(file, {"version": 1})
    _, best_step = read_best_step(tmp_path, is_chief)
    best_step.record(4)
    assert best_step.step == 4
    assert read_json(file).get("best_step") == expected


def test_without_model_json_no_file_is_written(tmp_path):
    _, best_step = read_best_step(tmp_path)
    best_step.record(4)
    assert [*tmp_path.iterdir()] == []


def test_the_best_step_belongs_to_the_dev_set_of_its_evaluation(tmp_path):
    history, best_step = read_best_step(tmp_path, dev_set_checksum=7)
    assert best_step.has_this_dev_set()
    history.add_evaluation(evaluate(1))
    best_step.record(1)
    assert best_step.has_this_dev_set()
    _, best_step = read_best_step(tmp_path, dev_set_checksum=8)
    best_step.record(1)
    assert not best_step.has_this_dev_set()


@pytest.fixture
def best_of_step_2(tmp_path):
    """The best step of a run, 2, whose weights are in no folder."""
    history, _ = read_best_step(tmp_path)
    history.add_evaluation(evaluate(2))
    history.add_checkpoint(3, best_step=2)
    _, best_step = read_best_step(tmp_path)
    return best_step


def test_a_best_step_without_weights_need_not_be_beaten(best_of_step_2):
    assert best_of_step_2.find_evaluation_to_beat().step == 2
    best_of_step_2.resume(3)
    assert best_of_step_2.find_evaluation_to_beat() is None


def test_a_best_step_must_be_beaten_if_a_later_one_is_repeated(
    best_of_step_2, tmp_path
):
    """The run was killed after a better step, and repeats the steps."""
    (tmp_path / "best").mkdir()
    (tmp_path / "best/model.ckpt-4.index").touch()
    best_of_step_2.resume(3)
    assert best_of_step_2.find_evaluation_to_beat().step == 2
