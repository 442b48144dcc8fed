"""Scores of a task's dev sets, and the outputs that they are computed of."""

import numpy as np
import pytest
import tensorflow as tf

from tests.support.models import tiny_config
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_start,
    load_tokenizer,
)
from training.flows import trainer_setup
from training.flows.encoded_sets import write_encoded_sets
from training.flows.fine_tuning_evaluation import (
    create_fine_tuning_evaluation,
    predict_set,
)
from training.flows.run_plan import RunPlan
from training.run_files.run_folder import RunFolder


class TwoDevSetsTask(ToyTask):
    """A task of two dev sets that counts the examples of each."""

    eval_loss = None

    def __init__(self, start):
        super().__init__(start)
        self.dev_sets = ["dev", "dev_mm"]

    def read_examples(self, set_name):
        return range(5 if set_name == "dev_mm" else 3)

    def evaluate(self, encoded_set, batches):
        return {"count": sum(len(outputs) for _, outputs in batches)}


class LossTask(ToyTask):
    """A task whose scores are the examples that it has read, and a loss."""

    def evaluate(self, encoded_set, batches):
        return {"count": sum(len(outputs) for _, outputs in batches)}


@pytest.fixture
def begin(tmp_path):
    """A function (class of a task) -> (task, its sets, Trainer)."""

    def begin_task(task_class):
        config = create_config(
            tmp_path / "run", do_eval=True, eval_batch_size=2
        )
        start = create_start(
            config, tiny_config(vocab_size=100), load_tokenizer()
        )
        task = task_class(start)
        plan = RunPlan(
            create_model=task.create_model,
            loss=task.loss,
            num_steps=None,
            settings={},
            dev_set_checksum=0,
        )
        trainer = trainer_setup.create_trainer(
            start,
            RunFolder.open(start),
            plan,
            strategy=tf.distribute.get_strategy(),
        )
        return task, write_encoded_sets(task, tmp_path / "records"), trainer

    return begin_task


def test_the_scores_of_each_dev_set_have_its_suffix(begin):
    task, encoded_sets, trainer = begin(TwoDevSetsTask)
    scores = create_fine_tuning_evaluation(task, encoded_sets)(trainer)
    assert scores == {"global_step": 0, "count": 3, "count_mm": 5}


def test_a_task_with_a_loss_is_scored_by_it_too(begin):
    task, encoded_sets, trainer = begin(LossTask)
    scores = create_fine_tuning_evaluation(task, encoded_sets)(trainer)
    assert scores["count"] == task.num_examples
    # A model that knows nothing about 2 labels.
    assert scores["eval_loss"] == pytest.approx(np.log(2), abs=0.1)


def test_a_step_is_evaluated_once(begin):
    task, encoded_sets, trainer = begin(TwoDevSetsTask)
    evaluate = create_fine_tuning_evaluation(task, encoded_sets)
    first = evaluate(trainer)
    task.evaluate = None
    assert evaluate(trainer) == first


def test_a_set_is_predicted_in_batches_of_the_size(begin):
    task, encoded_sets, trainer = begin(TwoDevSetsTask)
    batches = predict_set(
        task,
        trainer,
        encoded_sets["dev_mm"],
        batch_size=2,
        description="Evaluating",
    )
    assert [len(outputs) for _, outputs in batches] == [2, 2, 1]
