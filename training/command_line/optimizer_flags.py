"""Flags of the optimizer and its learning rate."""

from absl import flags

from training import options

# At 1.0 gradients would never change the average.
_LARGEST_BETA = 0.999999


def define() -> None:
    """Defines the optimizer, its schedule and the frozen layers."""
    _define_updates()
    _define_rates()


def _define_updates() -> None:
    """Defines how weights follow their gradients."""
    flags.DEFINE_enum(
        "optimizer",
        "adamw",
        options.OPTIMIZERS,
        "adamw is the original's; lamb is for batches of thousands.",
    )
    flags.DEFINE_float(
        "adam_beta_1",
        0.9,
        "Decay rate of the first moment.",
        lower_bound=0.0,
        upper_bound=_LARGEST_BETA,
    )
    flags.DEFINE_float(
        "adam_beta_2",
        0.999,
        "Decay rate of the second moment.",
        lower_bound=0.0,
        upper_bound=_LARGEST_BETA,
    )
    flags.DEFINE_float(
        "weight_decay",
        0.01,
        "Decoupled weight decay; not applied to LayerNorm and biases.",
        lower_bound=0.0,
        upper_bound=1000.0,
    )
    flags.DEFINE_float(
        "clip_norm",
        1.0,
        "Maximum global norm of the gradient; larger gradients are scaled "
        "down to it.",
        lower_bound=1e-6,
        upper_bound=1e6,
    )
    flags.DEFINE_float(
        "ema_decay",
        0.0,
        "Decay of the exponential moving average of the weights; the averages "
        "are evaluated, used to predict and exported. 0 = off.",
        lower_bound=0.0,
        upper_bound=_LARGEST_BETA,
    )


def _define_rates() -> None:
    """Defines the learning rate of each step and each layer."""
    flags.DEFINE_enum(
        "lr_schedule",
        "original",
        options.SCHEDULES,
        "original drops below its peak after the warmup, continuous does not; "
        "time falls to 0 at --max_hours, however many steps that takes.",
    )
    flags.DEFINE_float(
        "max_hours",
        None,
        "Save and stop after this many hours, including time before a resume; "
        "by default only --num_train_steps or --num_train_epochs end training.",
        lower_bound=1e-9,
        upper_bound=1e6,
    )
    flags.DEFINE_float(
        "poly_power",
        1.0,
        "Exponent of the learning rate's decay; 1 is linear.",
        lower_bound=0.0,
    )
    flags.DEFINE_float(
        "layerwise_lr_decay",
        1.0,
        "Factor of the learning rate from each block to the one below it.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_integer(
        "freeze_layers",
        0,
        "Freeze the embeddings and this many of the lowest blocks; 0 trains "
        "everything.",
        lower_bound=0,
    )
