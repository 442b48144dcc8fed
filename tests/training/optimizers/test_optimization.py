"""The optimizer that the flags choose, and its learning rate."""

import re

import numpy as np
import pytest

from training.config.training_config import OptimizerOptions
from training.optimizers import optimization


def test_flags_reach_the_optimizer():
    config = OptimizerOptions(
        adam_beta_1=0.5, adam_beta_2=0.8, weight_decay=3.0
    )
    created = optimization.create_optimizer(config, 4, 0)
    assert created.beta_1 == 0.5
    assert created.beta_2 == 0.8
    assert created.weight_decay_rate == 3


@pytest.mark.parametrize(
    ("schedule", "rate"), [("original", 0.3), ("continuous", 0.4)]
)
def test_the_flag_of_the_schedule_sets_the_rate(schedule, rate):
    config = OptimizerOptions(learning_rate=0.6, lr_schedule=schedule)
    optimizer = optimization.create_optimizer(config, 4, 1)
    optimizer.iterations.assign(2)
    assert float(optimizer.learning_rate) == pytest.approx(rate)


def test_the_bias_is_not_corrected_by_default():
    created = optimization.create_optimizer(OptimizerOptions(), 4, 0)
    assert not created.bias_correction


@pytest.mark.parametrize(
    "path",
    [
        "bert/encoder/layer_0/output/dense/bias",
        "bert/embeddings/LayerNorm/gamma",
    ],
)
def test_biases_and_normalizations_are_not_decayed(path):
    created = optimization.create_optimizer(OptimizerOptions(), 4, 0)
    patterns = created.get_config()["exclude_from_weight_decay"]
    assert any(re.search(pattern, path) for pattern in patterns)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # It jumps after the warmup, as Google's code does.
        (
            {"num_train_steps": 10, "num_warmup_steps": 4},
            [0, 0.25, 0.5, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0, 0],
        ),
        (
            {
                "num_train_steps": 8,
                "num_warmup_steps": 4,
                "is_continuous": True,
            },
            [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0, 0, 0, 0],
        ),
        # Without a warmup.
        (
            {"initial_learning_rate": 2, "num_train_steps": 4},
            [2, 1.5, 1, 0.5, 0, 0],
        ),
        # The warmup may be longer than the training.
        (
            {"num_train_steps": 10, "num_warmup_steps": 20},
            [step / 20 for step in range(10)],
        ),
    ],
)
def test_the_rate_rises_and_falls_as_the_schedule_says(arguments, expected):
    defaults = {"initial_learning_rate": 1.0}
    schedule = optimization.WarmupLinearDecay(**defaults | arguments)
    rates = [float(schedule(step)) for step in range(len(expected))]
    np.testing.assert_allclose(rates, expected, atol=1e-12)
