"""Averages of weights against their formula in NumPy."""

import numpy as np
import pytest

from tests.training.pair import OnStep, batches, create_trainer, fit
from training import devices
from training.callbacks.averages import WeightAverages
from training.checkpointing import checkpoint_steps


@pytest.mark.parametrize("name", ["one_device", "mirrored"])
def test_averages_follow_their_formula(name, tmp_path):
    strategy = devices.create_strategy(name)
    steps = []

    def look(step, logs):
        with averages.evaluating():
            evaluated = weight.numpy()
        steps.append((weight.numpy(), average.numpy(), evaluated))

    averages = WeightAverages()
    with strategy.scope():
        trainer = create_trainer(
            strategy=strategy,
            callbacks=[averages, OnStep(look)],
            output_dir=tmp_path,
            ema_decay=0.6,
        )
    weight = trainer.model.one
    weight.assign(3.0)
    averages.on_restore(0, is_new=True)
    names = [
        f"pair/{name}/ExponentialMovingAverage" for name in ("one", "zero")
    ]
    assert [*averages.variables()] == names
    average = averages.variables()[names[0]]
    # The fourth step is skipped, and averages nothing.
    dataset = batches([1, 2, 3, np.nan, -1, 2, 0.5, 1, 1, 1])
    fit(trainer, dataset, 10)
    expected = 3.0
    for step, (trained, averaged, evaluated) in enumerate(steps, start=1):
        decay = 1.0 if step == 4 else min(0.6, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * trained
        np.testing.assert_allclose(averaged, expected, rtol=1e-6)
        np.testing.assert_array_equal(evaluated, averaged)
    # The model has the averages in the end, and they are saved.
    np.testing.assert_array_equal(weight.numpy(), steps[-1][1])
    assert checkpoint_steps(tmp_path / "averages") == [10]
