"""Learning rate schedules against numbers worked out by hand."""

import numpy as np
import pytest

from training.optimizers import optimization

HALF = [2 * (1 - min(step, 10) / 10) ** 0.5 for step in range(13)]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        # It jumps after the warmup, as the original does.
        (
            {"num_train_steps": 10, "num_warmup_steps": 4},
            [0, 0.25, 0.5, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0, 0],
        ),
        (
            {"num_train_steps": 8, "num_warmup_steps": 4, "continuous": True},
            [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0, 0, 0, 0],
        ),
        # Without a warmup.
        (
            {"initial_learning_rate": 2, "num_train_steps": 10, "power": 0.5},
            HALF,
        ),
        # The warmup may be longer than the training.
        (
            {"num_train_steps": 10, "num_warmup_steps": 20},
            [step / 20 for step in range(10)],
        ),
    ],
)
def test_rates_of_the_steps(arguments, expected):
    schedule = optimization.WarmupPolynomialDecay(
        **{"initial_learning_rate": 1.0} | arguments
    )
    found = [float(schedule(step)) for step in range(len(expected))]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("steps, warmup", [(0, 0), (10, -1)])
def test_impossible_schedules_are_refused(steps, warmup):
    with pytest.raises(ValueError, match="num_warmup_steps"):
        optimization.WarmupPolynomialDecay(1.0, steps, warmup)
