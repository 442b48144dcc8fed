"""Steps that are not finite: skipped, counted, never saved."""

import logging

import numpy as np
import pytest

from tests import script_runner
from tests.training.pair import (
    BATCH_SIZE,
    batches,
    checkpointer_of,
    create_trainer,
    every,
)
from training.options import LoopOptions
from training.outputs import checkpointing
from training.steps import distribution


@pytest.mark.parametrize("steps_per_call", [1, 4])
def test_an_overflow_by_loss_scaling_is_no_failure(steps_per_call, caplog):
    trainer = create_trainer("float16")
    # Scaled by 2**15 and 2**14, the second and third gradient overflow.
    with caplog.at_level("INFO", logger="absl"):
        trainer.train(
            batches([1, 1e36, 1e36, 1]),
            5,
            BATCH_SIZE,
            options=LoopOptions(
                steps_per_call=steps_per_call, max_nonfinite_steps=1
            ),
        )
    assert trainer.step == 5
    assert float(trainer.optimizer.dynamic_scale) == 2**13
    assert not [r for r in caplog.records if r.levelno > logging.INFO]
    logged = [r.message for r in caplog.records if "overflowed" in r.message]
    assert [text.split()[1] for text in logged] == ["2", "3"]


ON_TWO_DEVICES = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2
)
from tests.training.steps import test_skipped_steps
test_skipped_steps.overflow_on_all_devices()
"""


def overflow_on_all_devices():
    strategy = distribution.create_strategy("mirrored")
    with strategy.scope():
        trainer = create_trainer("float16", strategy)
    trainer.train(
        distribution.distribute(strategy, batches([1, 1e36, 1e36, 1])),
        6,
        BATCH_SIZE,
        options=LoopOptions(steps_per_call=4, max_nonfinite_steps=1),
    )
    scale = trainer.optimizer.dynamic_scale.value
    assert [float(x) for x in strategy.experimental_local_results(scale)] == [
        2**13,
        2**13,
    ]


def test_devices_overflow_together(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ON_TWO_DEVICES)
    script_runner.run(script, tmp_path).check()


@pytest.mark.parametrize("steps_per_call", [1, 4])
def test_a_loss_that_is_not_finite_counts_in_float16_too(steps_per_call):
    trainer = create_trainer("float16")
    with pytest.raises(ValueError, match="2 steps in a row.* up to step 5"):
        trainer.train(
            batches([1, np.nan, 1, np.nan, np.inf]),
            6,
            BATCH_SIZE,
            options=LoopOptions(
                steps_per_call=steps_per_call, max_nonfinite_steps=2
            ),
        )


def test_a_gradient_that_no_scale_makes_finite_counts():
    trainer = create_trainer("float16")
    # 15 halvings bring the scale from 2**15 down to 1.
    with pytest.raises(ValueError, match="3 steps in a row.* up to step 18"):
        trainer.train(
            batches([], zeros=np.ones(100, np.float32)),
            100,
            BATCH_SIZE,
            options=LoopOptions(max_nonfinite_steps=3),
        )


def test_steps_made_together_that_are_not_finite_end_the_run():
    trainer = create_trainer()
    factors = [1, np.nan, 1, 1, np.nan, np.nan, np.nan]
    with pytest.raises(ValueError, match=r"up to step 7 on the batch of 12\."):
        trainer.train(
            batches(factors),
            50,
            BATCH_SIZE,
            options=LoopOptions(steps_per_call=50, max_nonfinite_steps=3),
            describe_batch=lambda step: f"the batch of {2 * step}",
        )
    # One that is in the middle of a call is skipped like any other.
    trainer = create_trainer()
    trainer.train(
        batches(factors), 8, BATCH_SIZE, options=LoopOptions(steps_per_call=50)
    )
    left_out = create_trainer()
    left_out.train(batches([1, 1]), 4, BATCH_SIZE)
    assert float(trainer.optimizer._momentums[0]) == pytest.approx(
        float(left_out.optimizer._momentums[0])
    )


@pytest.mark.parametrize("steps_per_call", [1, 4])
def test_weights_that_are_not_finite_are_never_saved(steps_per_call, tmp_path):
    trainer = create_trainer()
    checkpointer = checkpointer_of(trainer, tmp_path)
    trainer.train(batches([1]), 3, BATCH_SIZE, checkpointer, every(1))
    before = [float(v) for v in trainer.model.trainable_variables]
    # Its first update goes beyond a float32, with a finite gradient.
    trainer = create_trainer(learning_rate=3e38)
    checkpointer = checkpointer_of(trainer, tmp_path)
    assert checkpointer.restore() == 3
    message = "one is not finite.* that of step 3 is intact.*--learning_rate"
    with pytest.raises(ValueError, match=message):
        trainer.train(
            batches([1]),
            9,
            BATCH_SIZE,
            checkpointer,
            options=LoopOptions(
                save_checkpoints_steps=5, steps_per_call=steps_per_call
            ),
        )
    assert checkpointing.checkpoint_steps(tmp_path) == [1, 2, 3]
    trainer = create_trainer()
    assert checkpointer_of(trainer, tmp_path).restore() == 3
    assert [float(v) for v in trainer.model.trainable_variables] == before


@pytest.mark.parametrize("num_steps", [1, 2])
def test_weights_too_large_to_compute_with_are_never_saved(num_steps, tmp_path):
    # A step of this size leaves them finite.
    trainer = create_trainer(learning_rate=1e37)
    checkpointer = checkpointer_of(trainer, tmp_path)
    damage = ["is too large: its norm is not finite", "is not finite"]
    message = f"^after step {num_steps} one {damage[num_steps - 1]}, so .*--lea"
    with pytest.raises(ValueError, match=message):
        trainer.train(batches([1]), num_steps, BATCH_SIZE, checkpointer)
    assert np.isfinite(float(trainer.model.one)) == (num_steps == 1)
    assert checkpointing.checkpoint_steps(tmp_path) == []


def test_no_checkpoint_is_dropped_while_steps_are_skipped(tmp_path):
    trainer = create_trainer()
    checkpointer = checkpointer_of(trainer, tmp_path / "ends", keep=2)
    message = (
        "4 steps in a row.*; the checkpoint of step 3 is kept, .* remove "
        ".*model.ckpt-3.* to resume from step 2"
    )
    with pytest.raises(ValueError, match=message):
        trainer.train(
            batches([1, 1, 1] + [np.nan] * 9),
            20,
            BATCH_SIZE,
            checkpointer,
            options=LoopOptions(
                save_checkpoints_steps=1, max_nonfinite_steps=4
            ),
        )
    assert checkpointer.steps() == [2, 3]
    # One that fell due meanwhile is made as soon as a step is not skipped.
    trainer = create_trainer()
    checkpointer = checkpointer_of(trainer, tmp_path / "goes_on")
    trainer.train(
        batches([1, np.nan, np.nan, 1]), 7, BATCH_SIZE, checkpointer, every(2)
    )
    assert checkpointer.steps() == [4, 6, 7]
    trainer = create_trainer()
    checkpointer = checkpointer_of(trainer, tmp_path / "at_the_end")
    trainer.train(
        batches([1, 1, np.nan]), 3, BATCH_SIZE, checkpointer, every(2)
    )
    assert checkpointer.steps() == [2, 3]
