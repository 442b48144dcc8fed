"""A resume on another train set is refused, and says what differs."""

import dataclasses

import pytest

from model_folders.reading.preset import Preset
from model_folders.training_settings import TrainingSettings
from training.dev_set.set_fingerprints import SetFingerprint
from training.preparation.resume_checks import check_resumed_train_set

THEN = [["train-1.tf_record", 5, 1]]
RESUMED = Preset(
    "run",
    weights_path="run",
    training_settings=TrainingSettings(
        inputs={
            "data": [["train", "table.csv", 9, 5]],
            "train_records": THEN,
        }
    ),
)


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
    sets = {"train": SetFingerprint("train", *train_set)}
    now = [["train-1.tf_record", 5, 2]]
    with pytest.raises(ValueError, match=f"{says}.*--init_checkpoint=run"):
        check_resumed_train_set(RESUMED, sets, now, has_table=False)


def test_a_resume_on_the_same_records_may_read_another_file():
    sets = {"train": SetFingerprint("train", "other.csv", 9, 6)}
    check_resumed_train_set(RESUMED, sets, THEN, has_table=False)


def test_the_rows_of_a_table_are_those_of_both_sets():
    """Its dev set has grown by three rows, and its train set by one."""
    sets = [("train", "table.csv", 9, 5), ("eval", "table.csv", 2, 5)]
    resumed = dataclasses.replace(
        RESUMED,
        training_settings=TrainingSettings(
            inputs={"data": sets, "train_records": THEN}
        ),
    )
    now = {
        "train": SetFingerprint("train", "table.csv", 10, 6),
        "eval": SetFingerprint("eval", "table.csv", 5, 6),
    }
    records = [["train-1.tf_record", 5, 2]]
    with pytest.raises(ValueError, match=r"table\.csv.*11 rows then, 15 now"):
        check_resumed_train_set(resumed, now, records, has_table=True)
