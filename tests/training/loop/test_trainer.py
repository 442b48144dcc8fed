"""The loop's own promises, on a model of two numbers.

training/loop/trainer.py has the loop, training/loop/callbacks.py what it calls
after each step.
"""

import signal

import numpy as np
import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import tensorboard_events
from tests.support.two_weight_model import batches, create_trainer
from training.loop import stopping
from training.loop.best_step import BestStepCallback, BestStepRule


def test_outputs_of_nan_are_reported_once(tmp_path, caplog):
    trainer = create_trainer(tmp_path)
    dataset = batches([1, np.nan, 1, np.nan])[:5]
    assert len(list(trainer.predict(dataset))) == 5
    logged = [r.message for r in caplog.records if "NaN" in r.message]
    assert len(logged) == 1
    assert "from batch 2 on" in logged[0]


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_several_steps_in_one_call_end_where_a_callback_is_due(
    at_once, tmp_path
):
    evaluated = []

    def evaluate(trainer):
        evaluated.append(trainer.run_weights.global_step)
        return {"figure": -len(evaluated)}

    trainer = create_trainer(
        tmp_path,
        save_checkpoints_steps=6,
        summary_steps=5,
        at_once=at_once,
    )
    best = BestStepCallback(
        trainer, evaluate, BestStepRule(7, "figure", patience=2)
    )
    trainer.fit(batches([]), 50, [best])
    # The first is the best, and two more are waited for.
    assert evaluated == [7, 14, 21]
    assert list_checkpoint_steps(tmp_path) == [6, 12, 18, 21]
    assert list_checkpoint_steps(tmp_path / "best") == [7]
    assert trainer.run_folder.history.find_best_evaluation() == (
        7,
        {"figure": -1},
    )
    assert [*tensorboard_events.scalars(tmp_path)["loss"]] == [5, 10, 15, 20]


def best_step_of(trainer, values):
    """Returns a BestStepCallback whose evaluations find these values."""
    scores = ({"pearson": value} for value in values)
    return BestStepCallback(
        trainer,
        lambda _: next(scores),
        BestStepRule(1, "pearson", patience=2),
    )


def test_a_first_score_of_nan_is_not_the_best(tmp_path):
    trainer = create_trainer(tmp_path)
    trainer.fit(batches([]), 1, [best_step_of(trainer, [np.nan])])
    assert not list_checkpoint_steps(tmp_path / "best")


@pytest.fixture
def among_nan(tmp_path):
    """A Trainer that has stopped two steps after its best one, the fourth."""
    trainer = create_trainer(tmp_path)
    values = [np.nan, -0.5, np.nan, 0.0, np.nan, np.nan]
    trainer.fit(batches([]), 9, [best_step_of(trainer, values)])
    return trainer


def test_a_later_score_of_nan_is_no_improvement(among_nan, tmp_path):
    assert list_checkpoint_steps(tmp_path / "best") == [4]
    assert among_nan.run_weights.global_step == 6


@pytest.mark.usefixtures("among_nan")
def test_a_resumed_run_finds_the_best_score_among_nan(tmp_path):
    trainer = create_trainer(tmp_path)
    trainer.run_weights.restore_or_load()
    best = best_step_of(trainer, [])
    best.on_train_begin()
    assert best.find_reason_to_stop(6)


def test_a_finite_value_is_better_than_an_infinite_one_of_an_earlier_command(
    tmp_path,
):
    def train(loss, num_steps):
        trainer = create_trainer(output_dir=tmp_path)
        trainer.run_weights.restore_or_load()
        rule = BestStepRule(1, "eval_loss")
        best = BestStepCallback(trainer, lambda _: {"eval_loss": loss}, rule)
        trainer.fit(batches([]), num_steps, [best])

    train(np.inf, 1)
    train(3.0, 2)
    assert list_checkpoint_steps(tmp_path / "best") == [2]


def test_a_signal_counts_even_if_its_log_line_fails(monkeypatch):
    """Logging fails, for example, while another line waits for a full pipe."""

    def fail(_):
        raise RuntimeError("reentrant call")

    monkeypatch.setattr(stopping.logging, "warning", fail)
    with (
        stopping.stop_signals() as stop,
        pytest.raises(RuntimeError, match="reentrant"),
    ):
        signal.raise_signal(signal.SIGTERM)
    assert stop.is_set()
