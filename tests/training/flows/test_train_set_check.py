"""A resume on another train set is refused, and says what differs."""

import dataclasses

import pytest

from model_folders.reading.presets import Preset
from model_folders.recorded_sets import RecordedSet
from tests.support.tasks import toy_task
from training.flows.train_set_check import check_train_set

THEN = [["train-1.tf_record", 5, 1]]
RESUMED = Preset(
    "run",
    weights_path="run",
    is_own_run=True,
    recorded_settings={
        "data": [["train", "table.csv", 9, 5]],
        "train_records": THEN,
    },
)


def start_of_resume():
    """Returns the start of a command that resumes the run RESUMED."""
    config = toy_task.create_config("run", do_train=True)
    start = toy_task.create_start(config, None)
    return dataclasses.replace(start, preset=RESUMED)


@pytest.mark.parametrize(
    ("train_set", "says"),
    [
        (("other.csv", 9, 6), "on table.csv, 9 rows, and other.csv has 9"),
        (("table.csv", 12, 6), "has changed: 9 rows then, 12 now"),
        (("table.csv", 9, 6), "although it has 9 rows as then"),
        (("table.csv", 9, 5), "is read in another way than by this run"),
    ],
)
def test_a_resume_on_another_train_set_is_refused(train_set, says):
    sets = {"train": RecordedSet("train", *train_set)}
    now = [["train-1.tf_record", 5, 2]]
    with pytest.raises(ValueError, match=f"{says}.*--init_checkpoint=run"):
        check_train_set(start_of_resume(), sets, now)


def test_a_resume_on_the_same_records_may_read_another_file():
    sets = {"train": RecordedSet("train", "other.csv", 9, 6)}
    check_train_set(start_of_resume(), sets, THEN)
