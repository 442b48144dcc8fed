"""The original's create_optimizer: an optimizer with its learning rates."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from training.adamw import AdamWeightDecayOptimizer
from training.lamb import LAMBOptimizer
from training.schedules import WarmupPolynomialDecay

# LayerNorm's variables and every bias are not decayed.
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")
OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    init_lr: float,
    num_train_steps: int,
    num_warmup_steps: int,
    optimizer: str = "adamw",
    lr_schedule: str = "original",
    poly_power: float = 1.0,
    learning_rate_factors: Iterable[Sequence[Any]] | None = None,
    aggregate_gradients: bool = True,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    weight_decay: float = 0.01,
) -> AdamWeightDecayOptimizer:
    """Returns the optimizer of the original's create_optimizer.

    Args:
        init_lr: peak learning rate.
        num_train_steps: length of training.
        num_warmup_steps: length of the warmup, 0 for none.
        optimizer: "adamw" (the original's) or "lamb".
        lr_schedule: "original" (with its jump) or "continuous".
        poly_power: exponent of the decay.
        learning_rate_factors: see AdamWeightDecayOptimizer.
        aggregate_gradients: see AdamWeightDecayOptimizer.
        beta_1: see AdamWeightDecayOptimizer.
        beta_2: see AdamWeightDecayOptimizer.
        weight_decay: its `weight_decay_rate`.
    """
    return OPTIMIZERS[optimizer](
        learning_rate=WarmupPolynomialDecay(
            init_lr,
            num_train_steps,
            num_warmup_steps,
            power=poly_power,
            continuous=lr_schedule == "continuous",
        ),
        weight_decay_rate=weight_decay,
        beta_1=beta_1,
        beta_2=beta_2,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        learning_rate_factors=learning_rate_factors,
        aggregate_gradients=aggregate_gradients,
    )


def layerwise_factors(num_hidden_layers: int, decay: float) -> list[list[Any]]:
    """Returns learning rate factors that shrink towards the embeddings.

    The heads keep 1, the top layer gets `decay`, the one below it its square,
    the embeddings `decay ** (num_hidden_layers + 1)`.
    """
    if not 0.0 < decay <= 1.0:
        raise ValueError(
            f"A layer-wise decay lies in (0, 1]. Received: {decay}"
        )
    layers = [
        [rf"/layer_{index}/", math.pow(decay, num_hidden_layers - index)]
        for index in range(num_hidden_layers)
    ]
    embeddings = math.pow(decay, num_hidden_layers + 1)
    return [*layers, [r"/embeddings/", embeddings]]
