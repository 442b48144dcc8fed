"""A training evaluates by its rule, and each step only once."""

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support.two_weight_model import (
    create_batches,
    create_loop_trainer,
    write_records,
)
from training.loop.evaluated_training import (
    evaluate_once_per_step,
    train_and_evaluate,
)
from training.run_files.best_step import BestStepRule


@pytest.fixture
def trainer(tmp_path):
    """A Trainer before its first step."""
    return create_loop_trainer(tmp_path)


@pytest.fixture
def records(tmp_path):
    """Records to train on."""
    return write_records(tmp_path / "train.tf_record", create_batches([]))


@pytest.fixture
def evaluated():
    """The steps that were evaluated so far."""
    return []


@pytest.fixture
def evaluate(trainer, evaluated):
    """Evaluates the current weights, and lists their step."""

    def evaluate_step():
        evaluated.append(trainer.run_weights.global_step)
        return {"figure": -len(evaluated)}

    return evaluate_step


def test_the_weights_of_a_step_are_evaluated_once(trainer, evaluate, evaluated):
    evaluate_once = evaluate_once_per_step(trainer.run_weights, evaluate)
    assert evaluate_once() == evaluate_once() == {"figure": -1}
    trainer.run_weights.advance(1)
    assert evaluate_once() == {"figure": -2}
    assert evaluated == [0, 1]


def test_a_training_with_a_rule_saves_the_best_step(
    trainer, records, evaluate, evaluated, tmp_path
):
    rule = BestStepRule(2, "figure")
    train_and_evaluate(trainer, records, 5, evaluate=evaluate, rule=rule)
    assert evaluated == [2, 4, 5]
    assert list_checkpoint_steps(tmp_path / "best") == [2]


def test_a_training_without_a_rule_does_not_evaluate(
    trainer, records, evaluate, evaluated, tmp_path
):
    train_and_evaluate(trainer, records, 2, evaluate=evaluate, rule=None)
    assert not evaluated
    assert list_checkpoint_steps(tmp_path) == [2]
