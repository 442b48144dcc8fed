"""The loop's own promises, on a model of two numbers.

training/loop/step_loop.py has the loop, training/loop/callbacks.py what it
calls after each step.
"""

import signal

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import tensorboard_events
from tests.support.two_weight_model import (
    NO_RECORDS,
    OnStep,
    batches,
    create_trainer,
)
from training.loop import stopping
from training.loop.best_step import BestStepCallback, BestStepRule
from training.loop.trainer import Trainer


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_several_steps_in_one_call_end_where_a_callback_is_due(
    at_once, tmp_path
):
    evaluated = []

    def evaluate():
        evaluated.append(trainer.run_weights.global_step)
        return {"figure": -len(evaluated)}

    trainer = create_trainer(
        tmp_path,
        save_checkpoints_steps=6,
        summary_steps=5,
        at_once=at_once,
    )
    best = BestStepCallback(
        trainer, evaluate, BestStepRule(7, "figure", patience=2), 50
    )
    trainer.fit_batches(batches([]), 50, [best])
    # The first is the best, and two more are waited for.
    assert evaluated == [7, 14, 21]
    assert list_checkpoint_steps(tmp_path) == [6, 12, 18, 21]
    assert list_checkpoint_steps(tmp_path / "best") == [7]
    assert trainer.run_folder.history.find_best_evaluation(0) == (
        7,
        {"figure": -1},
    )
    assert [*tensorboard_events.scalars(tmp_path)["loss"]] == [5, 10, 15, 20]


def count_steps(trainer):
    """Returns (a callback, a list of the steps after which it was called)."""
    steps = []
    return OnStep(lambda step, logs: steps.append(step)), steps


def test_a_resumed_run_trains_only_the_steps_that_are_left(tmp_path):
    create_trainer(tmp_path).fit_batches(batches([]), 3)
    trainer = create_trainer(tmp_path)
    trainer.run_weights.restore_or_load()
    callback, steps = count_steps(trainer)
    trainer.fit_batches(batches([]), 5, [callback])
    assert steps == [4, 5]


def test_a_finished_run_trains_nothing(tmp_path, caplog):
    caplog.set_level("INFO")
    create_trainer(tmp_path).fit_batches(batches([]), 3)
    trainer = create_trainer(tmp_path)
    trainer.run_weights.restore_or_load()
    callback, steps = count_steps(trainer)
    trainer.fit_batches(batches([]), 3, [callback])
    assert not steps
    assert "has ended at step 3" in caplog.text


def test_a_signal_ends_the_process_once_the_step_is_saved(tmp_path):
    trainer = create_trainer(tmp_path)
    signals = OnStep(
        lambda step, logs: step == 2 and signal.raise_signal(signal.SIGTERM)
    )
    with pytest.raises(SystemExit) as caught:
        trainer.fit_batches(batches([]), 5, [signals])
    assert caught.value.code == stopping.INTERRUPTED_STATUS
    assert list_checkpoint_steps(tmp_path) == [2]


def test_a_run_out_of_time_saves_its_step(tmp_path, caplog):
    caplog.set_level("INFO")
    trainer = create_trainer(tmp_path, max_hours=1e-9)
    trainer.fit_batches(batches([]), 9)
    assert "Reached --max_hours after step 1." in caplog.text
    assert list_checkpoint_steps(tmp_path) == [1]


def test_a_trainer_that_only_predicts_cannot_train(tmp_path):
    trainer = create_trainer(tmp_path)
    predictor = Trainer(trainer.model, trainer.config, trainer.run_folder)
    with pytest.raises(ValueError, match="without a training step"):
        predictor.fit(NO_RECORDS, 1)
