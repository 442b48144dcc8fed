"""Scores of a task's dev splits, and the outputs that they are computed of."""

import numpy as np
import pytest

from tests.support.models import tiny_config
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_start,
    load_tokenizer,
)
from training.flows import trainer_setup
from training.flows.fine_tuning_evaluation import (
    create_fine_tuning_evaluation,
    predict_split,
)
from training.flows.run_plan import RunPlan
from training.run.run_folder import RunFolder
from training.sets.splits import write_splits


class TwoDevSetsTask(ToyTask):
    """A task of two dev sets that counts the examples of each."""

    eval_loss = None

    def __init__(self, start):
        super().__init__(start)
        self.splits = {**self.splits, "eval": ["eval", "eval_mm"]}

    def read_examples(self, split_name):
        return range(5 if split_name == "eval_mm" else 3)

    def evaluate(self, split, batches):
        return {"count": sum(len(outputs) for _, outputs in batches)}


class LossTask(ToyTask):
    """A task whose scores are the examples that it has read, and a loss."""

    def evaluate(self, split, batches):
        return {"count": sum(len(outputs) for _, outputs in batches)}


@pytest.fixture
def begin(tmp_path):
    """A function (class of a task) -> (task, its splits, Trainer)."""

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
            start, RunFolder.open(start), plan
        )
        return task, write_splits(task, tmp_path / "records"), trainer

    return begin_task


def test_the_scores_of_each_dev_set_have_its_suffix(begin):
    task, splits, trainer = begin(TwoDevSetsTask)
    scores = create_fine_tuning_evaluation(task, splits)(trainer)
    assert scores == {"global_step": 0, "count": 3, "count_mm": 5}


def test_a_task_with_a_loss_is_scored_by_it_too(begin):
    task, splits, trainer = begin(LossTask)
    scores = create_fine_tuning_evaluation(task, splits)(trainer)
    assert scores["count"] == task.num_examples
    # A model that knows nothing about 2 labels.
    assert scores["eval_loss"] == pytest.approx(np.log(2), abs=0.1)


def test_a_step_is_evaluated_once(begin):
    task, splits, trainer = begin(TwoDevSetsTask)
    evaluate = create_fine_tuning_evaluation(task, splits)
    first = evaluate(trainer)
    task.evaluate = None
    assert evaluate(trainer) == first


def test_a_split_is_predicted_in_batches_of_its_purpose(begin):
    task, splits, trainer = begin(TwoDevSetsTask)
    batches = predict_split(
        task, trainer, splits["eval_mm"], "eval", "Evaluating"
    )
    assert [len(outputs) for _, outputs in batches] == [2, 2, 1]
