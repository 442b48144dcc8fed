"""Learning rate schedules against numbers worked out by hand."""

import numpy as np
import pytest

from training.optimizers import optimization


def rates(**kwargs):
    schedule = optimization.WarmupPolynomialDecay(**kwargs)
    return [float(schedule(step)) for step in range(13)]


def test_schedule_jumps_after_the_warmup_as_the_original_does():
    found = rates(
        initial_learning_rate=1.0, num_train_steps=10, num_warmup_steps=4
    )
    expected = [0, 0.25, 0.5, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_continuous_schedule_has_no_jump():
    found = rates(
        initial_learning_rate=1.0,
        num_train_steps=8,
        num_warmup_steps=4,
        continuous=True,
    )
    expected = [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_schedule_without_warmup_and_with_power():
    found = rates(initial_learning_rate=2.0, num_train_steps=10, power=0.5)
    expected = [2 * (1 - min(step, 10) / 10) ** 0.5 for step in range(13)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_warmup_may_be_longer_than_the_training():
    found = rates(
        initial_learning_rate=1.0, num_train_steps=10, num_warmup_steps=20
    )
    np.testing.assert_allclose(found[:10], np.arange(10) / 20, atol=1e-12)


@pytest.mark.parametrize("steps, warmup", [(0, 0), (10, -1)])
def test_impossible_schedules_are_refused(steps, warmup):
    with pytest.raises(ValueError, match="num_warmup_steps"):
        optimization.WarmupPolynomialDecay(1.0, steps, warmup)
