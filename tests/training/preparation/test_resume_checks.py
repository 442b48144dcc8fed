"""A run is resumed with the settings that it recorded, and no others.

tests/scripts/test_run_pretraining_resume.py kills runs, and resumes them
with the same settings.
"""

import pytest

from model_folders.reading.preset import read_preset
from tests.support.tasks import toy_task
from tests.support.tasks.run_settings import (
    RECORDS,
    start_or_resume,
    touch_checkpoint,
)


@pytest.fixture
def folder(tmp_path):
    """The folder of a run, without any files yet."""
    return tmp_path / "run"


def test_more_epochs_resume(folder):
    start_or_resume(folder, {}, num_train_epochs=2)
    start_or_resume(folder, {}, num_train_epochs=3)
    flags = read_preset(folder).training_settings.inputs["flags"]
    assert flags["num_train_epochs"] == 3


def test_fewer_epochs_are_refused(folder):
    start_or_resume(folder, {}, num_train_epochs=3)
    way = f"--num_train_epochs=3.*--init_checkpoint={folder}"
    with pytest.raises(ValueError, match=way):
        start_or_resume(folder, {}, num_train_epochs=2.0)


def test_another_learning_rate_is_refused(folder):
    start_or_resume(folder, {}, learning_rate=1e-4)
    way = f"--learning_rate=0.0001; .*--init_checkpoint={folder}"
    with pytest.raises(ValueError, match=way):
        start_or_resume(folder, {}, learning_rate=2e-4)


@pytest.fixture
def evaluated_run(folder):
    """The folder of a run that was evaluated after its training began."""
    start_or_resume(folder, {"seed": 1})
    start_or_resume(folder, {"seed": 1, "eval_input_file": RECORDS})
    return folder


def test_a_later_training_keeps_the_records_of_the_dev_set(evaluated_run):
    start_or_resume(evaluated_run, {"seed": 1})
    training_settings = read_preset(evaluated_run).training_settings
    assert training_settings.head["seed"] == 1
    assert training_settings.inputs["eval_input_file"] == RECORDS


@pytest.mark.parametrize(
    "record", [["eval.tfrecord", 5, 2], ["other.tfrecord", 5, 1]]
)
def test_a_resume_on_another_dev_set_is_refused(evaluated_run, record):
    training_settings = {"seed": 1, "eval_input_file": [record]}
    with pytest.raises(ValueError, match="eval_input_file="):
        start_or_resume(evaluated_run, training_settings)


def test_a_resume_needs_no_init_checkpoint(folder):
    start_or_resume(folder, {"init_checkpoint": RECORDS})
    start_or_resume(folder, {})


def test_a_start_of_other_contents_is_refused(folder):
    start_or_resume(folder, {"init_checkpoint": RECORDS})
    with pytest.raises(ValueError, match="--init_checkpoint"):
        start_or_resume(folder, {"init_checkpoint": [["eval.tfrecord", 5, 2]]})


def test_a_run_whose_settings_are_lost_is_not_resumed(folder):
    touch_checkpoint(folder)
    with pytest.raises(ValueError, match=r"model\.json"):
        toy_task.load_toy_starting_point(folder, do_train=True)
