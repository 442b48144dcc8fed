"""The flags of predict.py, and what follows from several of them."""

import pytest

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
    assert {*task_flag.choices} == {
        "answer",
        "classify",
        "embed",
        "fill-mask",
        "next-sentence",
        "rerank",
        "tag",
        "tokenize",
    }
