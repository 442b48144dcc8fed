"""The loop's own promises, on a model of two numbers."""

import json
import logging

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling.checkpoints import tf1
from tests import script_runner
from training import (
    batch_sizes,
    checkpointing,
    clock,
    distribution,
    history,
    hooks,
    loop,
    optimization,
    schedules,
    train_step,
)
from training.options import LoopOptions, OptimizerOptions

BATCH_SIZE = 2


class Pair(keras.Model):
    """Multiplies each feature `factor` with a weight, of two it has."""

    def __init__(self):
        super().__init__()
        self.one = self.add_weight(shape=(), initializer="ones", name="one")
        self.zero = self.add_weight(shape=(), initializer="zeros", name="zero")

    def draw_seed(self, training):
        del training
        return tf.zeros([2], tf.int32)

    def call(self, features, training=None, seed=None):
        del training, seed
        return features["factor"] * self.one, self.zero * features["zero"]


class Sum:
    """Of the products; the root of a 0 has no finite gradient."""

    epsilon = {"part": 0.0}

    def weights(self, features):
        return {"part": tf.cast(tf.size(features["factor"]), tf.float32)}

    def sums(self, outputs, features):
        product, zero = outputs
        roots = tf.where(features["zero"] > 0, tf.sqrt(zero), 0.0)
        return {"part": tf.reduce_sum(product) + tf.reduce_sum(roots)}


def create_trainer(precision="float32", strategy=None, learning_rate=0.1):
    model = Pair()
    optimizer = optimization.create_optimizer(
        OptimizerOptions(learning_rate=learning_rate),
        100,
        0,
        aggregate_gradients=False,
    )
    return loop.Trainer(
        model, Sum(), distribution.scale_losses(optimizer, precision), strategy
    )


def checkpointer_of(trainer, folder, keep=0):
    return checkpointing.Checkpointer(
        folder,
        {v.name: v for v in trainer.model.trainable_variables},
        trainer.optimizer,
        keep_checkpoint_max=keep,
    )


def every(steps):
    return LoopOptions(save_checkpoints_steps=steps)


def batches(factors, zeros=None):
    """One batch for each factor, and more of factor 1."""
    factors = np.append(factors, np.ones(100)).astype(np.float32)
    zeros = np.zeros_like(factors) if zeros is None else zeros
    dataset = tf.data.Dataset.from_tensor_slices(
        {"factor": factors, "zero": zeros}
    )
    return dataset.map(
        lambda batch: {name: [x] * BATCH_SIZE for name, x in batch.items()}
    )


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
    told = [r.message for r in caplog.records if "overflowed" in r.message]
    assert [text.split()[1] for text in told] == ["2", "3"]


def test_outputs_that_are_nan_are_told_of_once(caplog):
    trainer = create_trainer()
    dataset = batches([1, np.nan, 1, np.nan]).take(5)
    assert len(list(trainer.predict(dataset))) == 5
    told = [r.message for r in caplog.records if "NaN" in r.message]
    assert len(told) == 1
    assert "first in batch 2," in told[0]


class SumOfProducts(Sum):
    """Without the root, whose gradient XLA makes not finite."""

    def sums(self, outputs, features):
        return {"part": tf.reduce_sum(outputs[0])}


@pytest.mark.parametrize("jit_compile", [False, True])
def test_optimizers_of_keras_train(jit_compile):
    optimizer = keras.optimizers.SGD(0.1)
    trainer = loop.Trainer(
        Pair(),
        SumOfProducts(),
        optimizer,
        options=train_step.StepOptions(jit_compile=jit_compile),
    )
    trainer.train(batches([1]), 2, BATCH_SIZE)
    assert float(trainer.model.one) == pytest.approx(1 - 2 * 0.1)
    assert trainer.step == 2


def test_options_of_keras_optimizers_are_kept():
    def train(**options):
        optimizer = optimization.AdamWeightDecayOptimizer(
            0.1, epsilon=1.0, aggregate_gradients=False, **options
        )
        trainer = loop.Trainer(Pair(), Sum(), optimizer)
        trainer.train(batches([1]), 2, BATCH_SIZE)
        return trainer

    plain = train()
    assert plain.optimizer.takes_scaled
    # As far as Adam gets with a gradient of 0.5: see its docstring.
    for option in ("clipnorm", "clipvalue", "global_clipnorm"):
        m1, m2 = 0.05, 0.05 * 0.9 + 0.05
        v1 = 0.001 * 0.25
        v2 = v1 * 0.999 + v1
        moved = 0.1 * (m1 / (v1**0.5 + 1) + m2 / (v2**0.5 + 1))
        clipped = train(**{option: 0.5}).model.one
        assert float(clipped) == pytest.approx(1 - moved)
        assert float(plain.model.one) < float(clipped)
    decayed = train(weight_decay=0.1)
    assert float(decayed.model.one) < float(plain.model.one)
    averaged = train(use_ema=True, ema_momentum=0.5)
    assert float(averaged.model.one) == float(plain.model.one)
    averaged.optimizer.finalize_variable_values([averaged.model.one])
    assert float(plain.model.one) < float(averaged.model.one) < 1


ON_TWO_DEVICES = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2
)
from tests.training import test_loop
test_loop.overflow_on_all_devices()
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


def test_a_checkpoint_that_is_not_finite_is_passed_over(tmp_path, caplog):
    trainer = create_trainer()
    checkpointer = checkpointer_of(trainer, tmp_path)
    trainer.train(batches([1]), 2, BATCH_SIZE, checkpointer)
    trainer.model.one.assign(np.nan)
    variables = {v.name: v for v in trainer.model.trainable_variables}
    variables |= checkpointing.optimizer_variables(variables, trainer.optimizer)
    tf1.write_checkpoint(checkpointer.path(3), variables)
    assert checkpointer.restore() == 2
    assert np.isfinite(float(trainer.model.one))
    assert "model.ckpt-3 is damaged (" in caplog.text
    assert "one is not finite)" in caplog.text


def test_what_a_killed_run_left_is_removed_and_nothing_else(tmp_path):
    ours = ["checkpoint.partial-7", "eval_results.json.partial-12"]
    theirs = ["checkpoint.partial-old", "notes.json.partial-7", "checkpoints"]
    for name in ours + theirs:
        (tmp_path / name).touch()
    trainer = create_trainer()
    trainer.train(
        batches([1]), 1, BATCH_SIZE, checkpointer_of(trainer, tmp_path)
    )
    assert not any((tmp_path / name).exists() for name in ours)
    assert all((tmp_path / name).exists() for name in theirs)


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


@pytest.mark.parametrize("steps_per_call", [1, 4, 100])
def test_no_hook_is_jumped_over(steps_per_call, tmp_path):
    trainer = create_trainer()
    variables = {v.name: v for v in trainer.model.trainable_variables}
    evaluated = []

    def evaluate():
        evaluated.append(trainer.step)
        return {"figure": -len(evaluated)}

    evaluation = hooks.Evaluation(
        evaluate,
        7,
        "figure",
        checkpointing.Checkpointer(tmp_path / "best", variables),
        patience=2,
    )
    sizes = batch_sizes.BatchSizes(BATCH_SIZE)
    run_history = history.History(tmp_path, clock.Clock(), sizes, True)
    summaries = hooks.Summaries(5, sizes, 1, 1, "float32", 1, run_history)
    trainer.train(
        batches([]),
        50,
        BATCH_SIZE,
        checkpointing.Checkpointer(
            tmp_path, variables, trainer.optimizer, keep_checkpoint_max=0
        ),
        options=LoopOptions(
            save_checkpoints_steps=6, steps_per_call=steps_per_call
        ),
        hooks=[summaries, evaluation],
    )
    # The first is the best, and two more are waited for.
    assert evaluated == [7, 14, 21]
    assert checkpointing.checkpoint_steps(tmp_path) == [6, 12, 18, 21]
    assert checkpointing.checkpoint_steps(tmp_path / "best") == [7]
    best = json.loads((tmp_path / "best" / "eval_results.json").read_text())
    assert best == {"figure": -1, "global_step": 7}
    (events,) = tmp_path.glob("events.out.tfevents.*")
    assert [
        event.step
        for event in tf.compat.v1.train.summary_iterator(str(events))
        for value in event.summary.value
        if value.tag == "loss"
    ] == [5, 10, 15, 20]


def test_a_hook_without_a_rhythm_is_told_after_each_call():
    seen = []
    create_trainer().train(
        batches([]),
        10,
        BATCH_SIZE,
        options=LoopOptions(steps_per_call=4),
        hooks=[lambda step, logs: seen.append(step)],
    )
    assert seen == [4, 8, 10]


def test_the_rate_follows_the_time(tmp_path):
    with tf.distribute.get_strategy().scope():
        spent = tf.Variable(0.0, trainable=False, dtype=tf.float64)
    optimizer = optimization.create_optimizer(
        OptimizerOptions(learning_rate=0.1, lr_schedule="time", poly_power=2.0),
        1000,
        4,
        aggregate_gradients=False,
        time_spent=spent,
    )
    trainer = loop.Trainer(
        Pair(),
        Sum(),
        optimizer,
        options=train_step.StepOptions(time_spent=spent),
    )
    rates = {}
    trainer.train(
        batches([]),
        1000,
        BATCH_SIZE,
        checkpointer_of(trainer, tmp_path),
        hooks=[lambda step, logs: rates.update({step: logs["learning_rate"]})],
        # Each step takes a tenth of the time.
        options=LoopOptions(time_spent=lambda: trainer.step / 10),
    )
    expected = [
        0.1 * min(step / 4, 1) * (1 - step / 10) ** 2 for step in range(10)
    ]
    np.testing.assert_allclose(
        [rates[step] for step in range(1, 11)], expected, rtol=1e-5
    )
    # The time is over, and the last step is saved.
    assert checkpointing.checkpoint_steps(tmp_path) == [10]
    schedule = schedules.WarmupTimeDecay(0.1, 4, 2.0)
    again = keras.optimizers.schedules.deserialize(
        keras.optimizers.schedules.serialize(schedule)
    )
    assert again.get_config() == schedule.get_config()


def test_workers_agree_on_the_time(tmp_path):
    strategy = distribution.create_strategy("mirrored")
    with strategy.scope():
        trainer = create_trainer(strategy=strategy)
    trainer.train(
        batches([]),
        50,
        BATCH_SIZE,
        checkpointer_of(trainer, tmp_path),
        options=LoopOptions(time_spent=lambda: trainer.step / 10),
    )
    assert checkpointing.checkpoint_steps(tmp_path)[-1] in (10, 11)
