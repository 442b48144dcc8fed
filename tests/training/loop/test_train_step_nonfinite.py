"""Steps that are not finite: skipped, counted, never saved.

Ten of them in a row end a run.
"""

import logging

import numpy as np
import pytest
import tensorflow as tf

from model_folders.checkpoint_folders import list_checkpoint_steps
from tests.support import script_runner
from tests.support.two_weight_model import (
    SumLoss,
    create_batches,
    create_loop_trainer,
    fit_batches,
)


@pytest.mark.parametrize("at_once", [1, 4])
def test_an_overflow_by_loss_scaling_is_not_a_failure(
    at_once, tmp_path, caplog
):
    trainer = create_loop_trainer(tmp_path, "float16", at_once=at_once)
    # Scaled by 2**15 down to 2**6, ten gradients in a row overflow.
    with caplog.at_level("INFO", logger="absl"):
        fit_batches(trainer, create_batches([1, *[1e38] * 10, 1]), 13)
    assert trainer.run_weights.global_step == 13
    assert float(trainer.train_step.optimizer.dynamic_scale) == 2**5
    # TensorFlow may warn of functions that other tests traced.
    ours = [record for record in caplog.records if record.name == "absl"]
    assert not [record for record in ours if record.levelno > logging.INFO]


# A training whose gradients overflow twice, on both devices.
TRAINING_ON_TWO_DEVICES = """
from tests.support.two_weight_model import (
    create_batches,
    create_loop_trainer,
    fit_batches,
)
from training.loop import devices, skipped_steps

skipped_steps.MAX_SKIPPED_STEPS = 1
strategy = devices.create_strategy("mirrored")
with strategy.scope():
    trainer = create_loop_trainer("run", "float16", strategy, at_once=4)
fit_batches(trainer, create_batches([1, 1e36, 1e36, 1]), 6)
scale = trainer.train_step.optimizer.dynamic_scale.value
print([float(value) for value in strategy.experimental_local_results(scale)])
"""


def test_two_devices_lower_the_loss_scale_together(tmp_path):
    script = script_runner.write_script_on_devices(
        tmp_path / "script.py", TRAINING_ON_TWO_DEVICES
    )
    done = script_runner.run(script, tmp_path).check()
    assert done.stdout == f"{[2.0**13] * 2}\n"


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_nonfinite_loss_counts_in_float16(at_once, tmp_path):
    trainer = create_loop_trainer(tmp_path, "float16", at_once=at_once)
    factors = [1, np.nan, 1, *[np.nan, np.inf] * 5]
    with pytest.raises(ValueError, match=r"10 steps.* step 13"):
        fit_batches(trainer, create_batches(factors), 16)


def test_a_gradient_infinite_at_every_scale_counts(tmp_path):
    trainer = create_loop_trainer(tmp_path, "float16")
    # 15 halvings bring the scale from 2**15 down to 1.
    with pytest.raises(ValueError, match=r"10 steps.* step 25"):
        fit_batches(
            trainer, create_batches([], zeros=np.ones(100, np.float32)), 100
        )


class LossOfNan(SumLoss):
    """Is not a number, though its gradient is finite."""

    def sums(self, outputs, features):
        sums = super().sums(outputs, features)
        return {"part": sums["part"] + tf.constant(np.nan)}


def test_a_finite_gradient_of_a_nonfinite_loss_is_skipped(tmp_path):
    trainer = create_loop_trainer(tmp_path, loss=LossOfNan())
    with pytest.raises(ValueError, match="10 steps in a row"):
        fit_batches(trainer, create_batches([]), 11)
    assert float(trainer.model.one) == 1


def momentum_of(trainer):
    """Returns the momentum of the weight `one`."""
    variables = trainer.train_step.optimizer.variables
    (momentum,) = [v for v in variables if v.path.endswith("/pair_one_adam_m")]
    return float(momentum)


def test_a_step_in_the_middle_of_a_call_is_skipped_like_any_other(tmp_path):
    trainer = create_loop_trainer(tmp_path / "skipping", at_once=50)
    fit_batches(
        trainer, create_batches([1, np.nan, 1, 1, np.nan, np.nan, np.nan]), 8
    )
    left_out = create_loop_trainer(tmp_path / "left_out")
    fit_batches(left_out, create_batches([1, 1]), 4)
    assert momentum_of(trainer) == pytest.approx(momentum_of(left_out))


@pytest.mark.parametrize("at_once", [1, 4])
def test_nonfinite_weights_are_never_saved(at_once, tmp_path):
    trainer = create_loop_trainer(tmp_path, save_checkpoints_steps=1)
    fit_batches(trainer, create_batches([1]), 3)
    before = [float(variable) for variable in trainer.model.trainable_variables]
    # Its first update goes beyond a float32, with a finite gradient.
    trainer = create_loop_trainer(
        tmp_path,
        learning_rate=3e38,
        at_once=at_once,
        save_checkpoints_steps=5,
    )
    trainer.run_weights.load_start()
    with pytest.raises(ValueError, match="--learning_rate"):
        fit_batches(trainer, create_batches([1]), 9)
    assert list_checkpoint_steps(tmp_path) == [1, 2, 3]
    trainer = create_loop_trainer(tmp_path, save_checkpoints_steps=1)
    trainer.run_weights.load_start()
    assert trainer.run_weights.global_step == 3
    assert [
        float(variable) for variable in trainer.model.trainable_variables
    ] == before


def test_no_checkpoint_is_dropped_while_steps_are_skipped(tmp_path):
    trainer = create_loop_trainer(
        tmp_path,
        keep_checkpoint_max=2,
        save_checkpoints_steps=1,
    )
    with pytest.raises(ValueError, match="10 steps in a row"):
        fit_batches(trainer, create_batches([1, 1, 1] + [np.nan] * 10), 20)
    assert list_checkpoint_steps(tmp_path) == [2, 3]


def test_a_due_checkpoint_waits_for_a_finite_step(tmp_path):
    trainer = create_loop_trainer(tmp_path, save_checkpoints_steps=2)
    fit_batches(trainer, create_batches([1, np.nan, np.nan, 1]), 7)
    assert list_checkpoint_steps(tmp_path) == [4, 6, 7]


def test_a_postponed_checkpoint_does_not_wait_for_the_next_multiple(tmp_path):
    trainer = create_loop_trainer(tmp_path, save_checkpoints_steps=2)
    fit_batches(trainer, create_batches([1, np.nan, 1]), 7)
    assert list_checkpoint_steps(tmp_path) == [3, 4, 6, 7]


def test_the_last_checkpoint_is_written_after_a_skipped_step(tmp_path):
    trainer = create_loop_trainer(tmp_path, save_checkpoints_steps=2)
    fit_batches(trainer, create_batches([1, 1, np.nan]), 3)
    assert list_checkpoint_steps(tmp_path) == [2, 3]
