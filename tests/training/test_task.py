"""What every task has, without a method of its own."""

import numpy as np
import pytest

from tests.support.tasks.task_sets import create_set, create_task_start
from tests.support.tasks.toy_task import ToyTask
from training.task import FineTuningTask

BATCHES = [({}, np.zeros((2, 2), "float32"))]


class LabeledTask(ToyTask):
    """A task with labels and settings."""

    def __init__(self, starting_point):
        super().__init__(
            starting_point,
            labels=("no", "yes"),
            label_words=("0", "1"),
            fixed_head_settings={"max_seq_length": 8, "num_texts": 2},
        )


@pytest.fixture
def starting_point(tmp_path):
    """The start of a command that fine-tunes."""
    return create_task_start(tmp_path)


def test_a_task_without_its_abstract_methods_cannot_be_created(starting_point):
    with pytest.raises(TypeError, match="abstract"):
        FineTuningTask(starting_point)


def test_a_task_has_the_flags_and_the_tokenizer_of_its_start(starting_point):
    task = ToyTask(starting_point)
    assert task.config is starting_point.config
    assert task.tokenizer is starting_point.tokenizer


def test_a_task_without_labels_has_no_names_of_outputs(starting_point):
    assert ToyTask(starting_point).label_alternatives == []


def test_outputs_may_be_named_by_labels_or_by_their_words(starting_point):
    names = LabeledTask(starting_point).label_alternatives
    assert names == [("no", "yes"), ("0", "1")]


def test_an_export_records_the_settings_and_the_labels(starting_point):
    assert LabeledTask(starting_point).head_settings == {
        "max_seq_length": 8,
        "labels": ("no", "yes"),
        "num_texts": 2,
    }


def test_each_task_has_settings_of_its_own(starting_point):
    fixed_head_settings = ToyTask(starting_point).fixed_head_settings
    fixed_head_settings["num_texts"] = 1
    assert ToyTask(starting_point).fixed_head_settings == {}


def test_records_are_examples_unless_a_task_pools_them(starting_point):
    task = ToyTask(starting_point)
    assert task.pool(create_set("dev", [1, 2]), BATCHES) is BATCHES


def test_a_task_writes_no_files_of_a_dev_set_by_default(
    starting_point, tmp_path
):
    folder = tmp_path / "run"
    folder.mkdir()
    ToyTask(starting_point).write_dev_files(
        create_set("dev", [1]), BATCHES, folder
    )
    assert not [*folder.iterdir()]
