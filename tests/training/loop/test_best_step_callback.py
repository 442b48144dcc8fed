"""Which step is evaluated, predicted and exported after training."""

import logging
import math

import numpy as np
import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from model_folders.scores import Evaluation, Scores
from tests.support.output_files import read_results
from tests.support.tasks import scripted_task, toy_task
from tests.support.tasks.scripted_task import (
    STEPS_PER_EPOCH,
    exported_steps,
    run_task,
    run_without_training,
)
from tests.support.two_weight_model import (
    create_batches,
    create_loop_trainer,
    fit_batches,
)
from training.loop.best_step_callback import BestStepCallback, BestStepRule


@pytest.fixture
def flags(tmp_path):
    """Flags of a run of three epochs that evaluates each of them."""
    return scripted_task.create_flags(tmp_path)


@pytest.mark.parametrize(
    ("load_best", "step", "place"), [(True, 4, "best"), (False, 6, "last")]
)
def test_the_chosen_step_is_evaluated_predicted_and_exported(
    load_best, step, place, flags, tmp_path, caplog
):
    """The score is of a fourth evaluation, which is that of the export."""
    accuracies = [0.5, 0.9, 0.7, 0.9 if load_best else 0.7]
    export_dir = str(tmp_path / "served")
    with caplog.at_level(logging.INFO):
        run_task(flags, accuracies, load_best=load_best, export_dir=export_dir)
    results = read_results(tmp_path / "run")
    assert results["accuracy"] == accuracies[-1]
    assert results["global_step"] == step
    assert exported_steps(tmp_path) == {step}
    chosen = f"step {step} (the {place} step)"
    lines = [line for line in caplog.messages if chosen in line]
    for work in ("Evaluating", "Predicting", "Exporting"):
        assert any(work in line for line in lines), work


@pytest.mark.parametrize("load_best", [True, False])
def test_load_best_chooses_the_step_of_a_later_prediction(
    load_best, flags, tmp_path
):
    run_task(flags, [0.5, 0.9, 0.7], load_best=load_best)
    logits = np.load(tmp_path / "run/logits.npy")
    for later_load_best in (True, False):
        run_without_training(
            flags,
            [],
            do_eval=False,
            export_weights=None,
            load_best=later_load_best,
        )
        later_logits = np.load(tmp_path / "run/logits.npy")
        is_same = np.allclose(later_logits, logits, atol=1e-6)
        assert is_same == (later_load_best == load_best)


# The loss falls, because the labels of eight examples are learned by heart.
@pytest.mark.parametrize(
    ("name", "epoch", "f1"), [("f1", 1, 0.5), ("eval_loss", 3, 0.3)]
)
def test_metric_for_best_chooses_the_best_step(
    name, epoch, f1, flags, tmp_path
):
    run_task(flags, [0.5, 0.9, 0.7], metric_for_best=name)
    assert read_results(tmp_path / "run")["f1"] == pytest.approx(f1)
    assert exported_steps(tmp_path) == {epoch * STEPS_PER_EPOCH}


def test_an_unknown_metric_for_best_is_refused_before_training(flags):
    with pytest.raises(ValueError, match="--metric_for_best"):
        run_task(flags, [], metric_for_best="loss")


def test_metric_for_best_needs_an_evaluation_of_each_epoch(flags):
    changes = {"metric_for_best": "f1", "evaluate_each_epoch": False}
    config = toy_task.create_command(flags | changes).config
    with pytest.raises(ValueError, match="--metric_for_best"):
        config.check(frozenset())


def best_step_of(trainer, values):
    """Returns a BestStepCallback whose evaluations find these values.

    It evaluates each step of 9.
    """
    scores = (Scores({"pearson": value}) for value in values)
    return BestStepCallback(
        trainer.run_weights,
        trainer.run_folder,
        evaluate=lambda: Evaluation(
            trainer.run_weights.global_step, next(scores)
        ),
        rule=BestStepRule(1, "pearson", patience=2),
        num_train_steps=9,
    )


def test_a_first_score_of_nan_is_not_the_best(tmp_path):
    trainer = create_loop_trainer(tmp_path)
    fit_batches(
        trainer, create_batches([]), 1, [best_step_of(trainer, [np.nan])]
    )
    assert not list_checkpoint_steps(tmp_path / "best")


@pytest.fixture
def among_nan(tmp_path):
    """A Trainer that has stopped two steps after its best one, the fourth."""
    trainer = create_loop_trainer(tmp_path)
    values = [np.nan, -0.5, np.nan, 0.0, np.nan, np.nan]
    fit_batches(trainer, create_batches([]), 9, [best_step_of(trainer, values)])
    return trainer


def test_a_later_score_of_nan_is_not_an_improvement(among_nan, tmp_path):
    assert list_checkpoint_steps(tmp_path / "best") == [4]
    assert among_nan.run_weights.global_step == 6


@pytest.mark.usefixtures("among_nan")
def test_a_resumed_run_finds_the_best_score_among_nan(tmp_path):
    trainer = create_loop_trainer(tmp_path)
    trainer.run_weights.load_start()
    best = best_step_of(trainer, [])
    best.on_train_begin()
    assert best.describe_reason_to_end(6)


def test_a_resumed_run_replaces_an_infinite_best_loss(tmp_path):
    def train(loss, num_steps):
        trainer = create_loop_trainer(output_dir=tmp_path)
        trainer.run_weights.load_start()
        scores = Scores({"eval_loss": loss})
        best = BestStepCallback(
            trainer.run_weights,
            trainer.run_folder,
            evaluate=lambda: Evaluation(num_steps, scores),
            rule=BestStepRule(1, "eval_loss"),
            num_train_steps=num_steps,
        )
        fit_batches(trainer, create_batches([]), num_steps, [best])

    train(np.inf, 1)
    train(3.0, 2)
    assert list_checkpoint_steps(tmp_path / "best") == [2]


@pytest.mark.parametrize(
    ("metric", "value", "is_better"),
    [
        ("f1", 0.6, True),
        ("f1", 0.5, False),
        ("f1", math.nan, False),
        ("eval_loss_mm", 0.4, True),
        ("loss", 0.6, False),
    ],
)
def test_a_score_is_better_if_it_is_higher_and_a_loss_if_it_is_lower(
    metric, value, is_better
):
    best = Evaluation(1, Scores({metric: 0.5}))
    evaluation = Evaluation(2, Scores({metric: value}))
    rule = BestStepRule(1, metric)
    assert rule.is_better(evaluation, best) == is_better
