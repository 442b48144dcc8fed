"""Training that ends when its time is over."""

import keras
import numpy as np
import tensorflow as tf

from tests.training.pair import (
    BATCH_SIZE,
    Pair,
    Sum,
    batches,
    checkpointer_of,
    create_trainer,
)
from training.optimizers import optimization, schedules
from training.options import LoopOptions, OptimizerOptions
from training.outputs import checkpointing
from training.steps import distribution, loop, train_step


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
