"""Training that ends when its time is over."""

import keras
import numpy as np
import tensorflow as tf

from tests.training.pair import (
    OnStep,
    Pair,
    Sum,
    batches,
    create_config,
    create_trainer,
    fit,
)
from training import checkpointing, devices
from training.callbacks.endings import TimeLimit
from training.optimizers import optimization
from training.trainer import Trainer


class TenSteps(TimeLimit):
    """Each step takes a tenth of the time."""

    steps = 0

    @property
    def spent(self):
        return self.steps / 10


def test_the_rate_follows_the_time(tmp_path):
    spent = tf.Variable(0.0, trainable=False, dtype="float64")
    limit = TenSteps(spent_variable=spent)
    config = create_config(
        tmp_path,
        learning_rate=0.1,
        lr_schedule="time",
        max_hours=1.0,
        poly_power=2.0,
    )
    optimizer = optimization.create_optimizer(config, 1000, 4, time_spent=spent)
    rates = {}

    def look(step, logs):
        rates[step] = logs["learning_rate"]
        limit.steps = step

    trainer = Trainer(Pair(), Sum(), optimizer, config, [OnStep(look), limit])
    fit(trainer, batches([]), 1000)
    expected = [
        0.1 * min(step / 4, 1) * (1 - step / 10) ** 2 for step in range(10)
    ]
    np.testing.assert_allclose(
        [rates[step] for step in range(1, 11)], expected, rtol=1e-5
    )
    # The time is over, and the last step is saved.
    assert checkpointing.checkpoint_steps(tmp_path) == [10]
    schedule = optimization.WarmupPolynomialDecay(0.1, 9, 4, time_spent=spent)
    again = keras.optimizers.schedules.deserialize(
        keras.optimizers.schedules.serialize(schedule)
    )
    assert again.get_config() == schedule.get_config() | {"time_spent": 0.0}


def test_workers_agree_on_the_time(tmp_path):
    strategy, limit = devices.create_strategy("mirrored"), TenSteps()

    def look(step, logs):
        limit.steps = step

    with strategy.scope():
        trainer = create_trainer(
            strategy=strategy,
            output_dir=tmp_path,
            callbacks=[OnStep(look), limit],
        )
    fit(trainer, batches([]), 50)
    assert checkpointing.checkpoint_steps(tmp_path)[-1] in (10, 11)
