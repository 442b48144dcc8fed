"""The scores of a dev set, and its loss by the sums of its batches."""

import pytest

from data.io.record_datasets import Records
from model_folders.scores import Scores
from modeling.base_loss import BatchLoss
from tests.support.models import tiny_config
from tests.support.tasks.toy_task import (
    ToyTask,
    create_config,
    create_starting_point,
    load_tokenizer,
)
from training.fine_tuning.dev_set_scores import MeanLoss, score_dev_set
from training.task import EncodedSet

DEV_SET = EncodedSet("dev_mm", Records([], {}), 2, 2, checksum=0)


class TwoParts(BatchLoss):
    """A loss whose sums are the outputs, and whose divisors the features."""

    def sums(self, outputs, features):
        return outputs

    def divisors(self, features):
        return features


class FirstBatchTask(ToyTask):
    """A task that reads only the first batch, and scores its outputs."""

    def compute_scores(self, encoded_set, batches):
        _, outputs = next(iter(batches))
        return Scores({"word": outputs["word"]})


@pytest.fixture
def task(tmp_path):
    """A FirstBatchTask."""
    return FirstBatchTask(
        create_starting_point(
            create_config(tmp_path), tiny_config(), load_tokenizer()
        )
    )


def test_the_loss_of_a_set_is_the_sum_of_the_means_of_its_parts():
    sums = [{"word": 6.0, "end": 1.0}, {"word": 2.0, "end": 3.0}]
    weights = [{"word": 4.0, "end": 2.0}, {"word": 1.0, "end": 2.0}]
    batches = list(zip(weights, sums, strict=True))
    mean_loss = MeanLoss(TwoParts())
    assert list(mean_loss.add_each(batches)) == batches
    assert mean_loss.compute() == pytest.approx(8 / 5 + 4 / 4)


def test_the_loss_counts_the_batches_that_a_task_leaves_unread(task):
    weights = {"word": 1.0}
    batches = [(weights, {"word": 2.0}), (weights, {"word": 4.0})]
    scores = score_dev_set(task, DEV_SET, iter(batches), loss=TwoParts())
    assert scores.overall == {"word_mm": 2.0, "eval_loss_mm": 3.0}


def test_without_a_loss_the_scores_are_those_of_the_task(task):
    batches = [({}, {"word": 2.0})]
    scores = score_dev_set(task, DEV_SET, batches)
    assert scores.overall == {"word_mm": 2.0}
