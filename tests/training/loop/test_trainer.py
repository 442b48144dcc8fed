"""What a Trainer trains, from the start or resumed, and what stops it."""

import pytest

from tests.support.two_weight_model import (
    OnStep,
    create_batches,
    create_loop_trainer,
    fit_batches,
)
from training.loop.trainer import Trainer


def count_steps(trainer):
    """Returns (a callback, a list of the steps after which it was called)."""
    steps = []
    return OnStep(lambda step, logs: steps.append(step)), steps


def test_a_resumed_run_trains_only_the_steps_that_are_left(tmp_path):
    fit_batches(create_loop_trainer(tmp_path), create_batches([]), 3)
    trainer = create_loop_trainer(tmp_path)
    trainer.run_weights.load_start()
    callback, steps = count_steps(trainer)
    fit_batches(trainer, create_batches([]), 5, [callback])
    assert steps == [4, 5]


def test_a_resumed_run_reads_the_records_of_the_steps_that_are_left(tmp_path):
    # The loss of a step is the factor in its records, so small are the updates.
    batches = create_batches([2, 3, 5, 7])
    fit_batches(create_loop_trainer(tmp_path, learning_rate=1e-9), batches, 2)
    trainer = create_loop_trainer(tmp_path, learning_rate=1e-9)
    trainer.run_weights.load_start()
    losses = []
    callback = OnStep(lambda step, logs: losses.append(logs["loss"]))
    fit_batches(trainer, batches, 4, [callback])
    assert losses == pytest.approx([5, 7], rel=1e-4)


def test_a_finished_run_trains_nothing(tmp_path, caplog):
    caplog.set_level("INFO")
    fit_batches(create_loop_trainer(tmp_path), create_batches([]), 3)
    trainer = create_loop_trainer(tmp_path)
    trainer.run_weights.load_start()
    callback, steps = count_steps(trainer)
    fit_batches(trainer, create_batches([]), 3, [callback])
    assert not steps
    assert "has ended at step 3" in caplog.text


def test_a_trainer_that_only_predicts_cannot_train(tmp_path):
    trainer = create_loop_trainer(tmp_path)
    predictor = Trainer(
        trainer.model, trainer.starting_point, trainer.run_folder
    )
    with pytest.raises(ValueError, match="without a training step"):
        fit_batches(predictor, create_batches([]), 1)
