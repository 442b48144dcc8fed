"""The flags of predict.py, and what follows from several of them."""

import pytest

from model_folders.kinds import KIND_OF_CLASS
from serving.predict.predict_config import PredictConfig


def create_predict_config(**flags):
    return PredictConfig.from_values(model="model", **flags)


@pytest.mark.parametrize(
    ("flags", "is_bulk", "num_threads"),
    [
        ({}, False, None),
        ({"num_threads": 3}, False, 3),
        ({"num_processes": 2}, True, 1),
        ({"num_shards": 2}, True, 1),
        ({"num_processes": 2, "num_threads": 3}, True, 3),
    ],
)
def test_the_processes_of_a_job_share_the_cpus(flags, is_bulk, num_threads):
    config = create_predict_config(**flags)
    assert config.is_bulk == is_bulk
    assert config.num_threads == num_threads


def test_the_tasks_of_all_kinds_can_be_chosen():
    (task_flag,) = (
        flag for flag in PredictConfig.list_options() if flag.name == "task"
    )
    task_names = {"tokenize"}
    for kind in KIND_OF_CLASS.values():
        task_names.update(kind.text_task_names)
    assert {*task_flag.choices} == task_names
