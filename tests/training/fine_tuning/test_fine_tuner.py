"""Scores of a task's dev sets, and the outputs that they are computed of."""

import numpy as np
import pytest

from model_folders.scores import Scores
from tests.support.models import tiny_config
from tests.support.tasks.task_runs import list_evaluated_steps
from tests.support.tasks.toy_task import (
    ToyTask,
    TwoRecordsTask,
    create_config,
    create_run_flags,
    create_starting_point,
    create_trainer,
    load_tokenizer,
    run_task,
)
from training.fine_tuning.encoded_sets import write_encoded_sets
from training.fine_tuning.fine_tuner import FineTuner
from training.task import Scoring


class TwoDevSetsTask(ToyTask):
    """A task of two dev sets that counts the examples of each."""

    def __init__(self, starting_point):
        super().__init__(
            starting_point,
            scoring=Scoring(("count",)),
            dev_sets=["dev", "dev_mm"],
        )

    def take_examples(self, set_name):
        return range(5 if set_name == "dev_mm" else 3)

    def compute_scores(self, encoded_set, batches):
        return Scores({"count": sum(len(outputs) for _, outputs in batches)})


class CountingTask(TwoDevSetsTask):
    """A task that lists the names of the sets that it evaluates."""

    def __init__(self, starting_point):
        super().__init__(starting_point)
        self.evaluated_sets = []

    def compute_scores(self, encoded_set, batches):
        self.evaluated_sets.append(encoded_set.name)
        return super().compute_scores(encoded_set, batches)


class BatchSizesTask(TwoDevSetsTask):
    """A task that remembers the sizes of the batches of each set."""

    def __init__(self, starting_point):
        super().__init__(starting_point)
        self.batch_sizes = {}

    def compute_scores(self, encoded_set, batches):
        sizes = [len(outputs) for _, outputs in batches]
        self.batch_sizes[encoded_set.name] = sizes
        return Scores()


class LossTask(ToyTask):
    """A task whose scores are the examples that it has read, and a loss."""

    def compute_scores(self, encoded_set, batches):
        return Scores({"count": sum(len(outputs) for _, outputs in batches)})


@pytest.fixture
def begin(tmp_path):
    """A function (class of a task) -> FineTuner of its dev sets."""

    def begin_task(task_class):
        config = create_config(
            tmp_path / "run", do_eval=True, eval_batch_size=2
        )
        starting_point = create_starting_point(
            config, tiny_config(vocab_size=100), load_tokenizer()
        )
        task = task_class(starting_point)
        return FineTuner(
            task,
            write_encoded_sets(task, tmp_path / "records"),
            create_trainer(task),
        )

    return begin_task


def test_the_scores_of_each_dev_set_have_its_suffix(begin):
    evaluation = begin(TwoDevSetsTask).evaluate_dev_sets()
    assert evaluation.scores.overall == {"count": 3, "count_mm": 5}


def test_a_task_with_a_loss_is_scored_by_it_too(begin):
    scores = begin(LossTask).evaluate_dev_sets().scores.overall
    assert scores["count"] == LossTask.num_examples
    # A model that knows nothing about 2 labels.
    assert scores["eval_loss"] == pytest.approx(np.log(2), abs=0.1)


def test_each_dev_set_of_a_step_is_evaluated_once(begin):
    fine_tuner = begin(CountingTask)
    first = fine_tuner.evaluate_dev_sets()
    assert fine_tuner.evaluate_dev_sets() == first
    fine_tuner.trainer.run_weights.advance(1)
    assert fine_tuner.evaluate_dev_sets().step == 1
    assert fine_tuner.task.evaluated_sets == ["dev", "dev_mm"] * 2


def test_a_set_is_evaluated_in_batches_of_eval_batch_size(begin):
    """The last batch of the 5 examples is smaller."""
    fine_tuner = begin(BatchSizesTask)
    fine_tuner.evaluate_dev_sets()
    assert fine_tuner.task.batch_sizes == {"dev": [2, 1], "dev_mm": [2, 2, 1]}


def test_a_run_without_a_step_has_not_trained(begin):
    fine_tuner = begin(TwoDevSetsTask)
    assert not fine_tuner.has_trained
    fine_tuner.trainer.run_weights.advance(1)
    assert fine_tuner.has_trained


def test_each_epoch_of_a_task_that_counts_examples_is_evaluated(tmp_path):
    """An epoch of 12 examples, each of two records, is 3 batches of 4."""
    flags = create_run_flags(
        tmp_path,
        max_seq_length=TwoRecordsTask.max_seq_length,
        do_train=True,
        evaluate_each_epoch=True,
        num_train_epochs=2,
    )
    run_task(TwoRecordsTask, flags)
    assert list_evaluated_steps(tmp_path / "run") == [3, 6]
