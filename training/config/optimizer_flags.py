"""The flags of the optimizer and the learning rate schedule."""

import dataclasses
from typing import Literal, TypeAlias, get_args

from command_line import flags

OptimizerName: TypeAlias = Literal["adamw", "lamb"]
ScheduleName: TypeAlias = Literal["original", "continuous"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerFlags:
    """Flags of the optimizer and the learning rate schedule."""

    learning_rate: float = flags.training_flag(
        5e-5, "Peak learning rate.", at_least=0
    )
    optimizer: OptimizerName = flags.training_flag(
        "adamw",
        "adamw is the optimizer of Google's code. lamb is for batches of "
        "thousands of examples.",
        choices=get_args(OptimizerName),
    )
    # At 1, Adam's moments would never change.
    adam_beta_1: float = flags.training_flag(
        0.9, "Decay rate of the first moment.", at_least=0, at_most=0.999999
    )
    adam_beta_2: float = flags.training_flag(
        0.999, "Decay rate of the second moment.", at_least=0, at_most=0.999999
    )
    bias_correction: bool = flags.training_flag(
        False,
        "Correct the bias of Adam's moments, unlike Google's code. This helps "
        "short runs at high learning rates. LAMB always corrects the bias.",
    )
    weight_decay: float = flags.training_flag(
        0.01,
        "Decoupled weight decay. Not applied to LayerNorm and biases.",
        at_least=0,
    )
    lr_schedule: ScheduleName = flags.training_flag(
        "original",
        "When the learning rate begins to decay: at step 0 (original, as in "
        "Google's code, so the rate drops right after the warmup), or after "
        "the warmup (continuous).",
        choices=get_args(ScheduleName),
    )
