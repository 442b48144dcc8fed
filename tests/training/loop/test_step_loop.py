"""After which steps a training saves and ends, on a model of two weights."""

import signal

import pytest

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import tensorboard_events
from tests.support.two_weight_model import OnStep, batches, create_trainer
from training.loop import stopping
from training.loop.best_step import BestStepCallback, BestStepRule


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
        trainer.run_folder,
        trainer.run_weights,
        evaluate,
        BestStepRule(7, "figure", patience=2),
        num_train_steps=50,
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
