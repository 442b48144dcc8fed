"""A run is resumed with the settings that it began with, and no others.

tests/scripts/test_resume.py kills runs, and resumes them with the same
settings.
"""

import pytest

from model_folders import presets
from tests.support import toy_task
from tests.support.run_settings import (
    RECORDS,
    start_or_resume,
    touch_checkpoint,
)


@pytest.fixture
def folder(tmp_path):
    """A folder with a checkpoint, so that its settings count."""
    return touch_checkpoint(tmp_path)


def test_more_epochs_resume(folder):
    start_or_resume(folder, {}, num_train_epochs=2)
    start_or_resume(folder, {}, num_train_epochs=3)
    flags = presets.read_preset(folder).recorded_settings["flags"]
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


def test_a_run_may_be_evaluated_later_and_then_on_the_same_records(folder):
    start_or_resume(folder, {"seed": 1})
    before = {"seed": 1, "eval_input_file": RECORDS}
    start_or_resume(folder, before)
    start_or_resume(folder, {"seed": 1})
    assert (
        presets.read_preset(folder).recorded_settings.items() >= before.items()
    )
    for other in (["eval.tfrecord", 5, 2], ["other.tfrecord", 5, 1]):
        with pytest.raises(ValueError, match="eval_input_file="):
            start_or_resume(folder, {"seed": 1, "eval_input_file": [other]})


def test_a_resume_needs_no_init_checkpoint(folder):
    start_or_resume(folder, {"init_checkpoint": RECORDS})
    start_or_resume(folder, {})


def test_a_start_of_other_contents_is_refused(folder):
    start_or_resume(folder, {"init_checkpoint": RECORDS})
    with pytest.raises(ValueError, match="--init_checkpoint"):
        start_or_resume(folder, {"init_checkpoint": [["eval.tfrecord", 5, 2]]})


def test_a_run_whose_settings_are_lost_is_not_resumed(folder):
    with pytest.raises(ValueError, match=r"model\.json"):
        toy_task.resolve_config(folder, do_train=True)
