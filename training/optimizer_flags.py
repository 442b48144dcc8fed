"""Flags of the optimizer and its learning rate."""

from absl import flags

from training import options

# 1.0 would never learn anything of a gradient.
_LARGEST_BETA = 0.999999


def define() -> None:
    """Defines the optimizer, its schedule, and what it trains."""
    flags.DEFINE_enum(
        "optimizer",
        "adamw",
        options.OPTIMIZERS,
        "adamw is the original's; lamb is for batches of thousands.",
    )
    flags.DEFINE_float(
        "adam_beta_1",
        0.9,
        "Share of the mean of the gradients that a step keeps.",
        lower_bound=0.0,
        upper_bound=_LARGEST_BETA,
    )
    flags.DEFINE_float(
        "adam_beta_2",
        0.999,
        "Share of the mean of their squares that a step keeps.",
        lower_bound=0.0,
        upper_bound=_LARGEST_BETA,
    )
    flags.DEFINE_float(
        "weight_decay",
        0.01,
        "Share of a weight, times the learning rate, that a step takes away; "
        "LayerNorm and biases keep theirs.",
        lower_bound=0.0,
        upper_bound=1000.0,
    )
    flags.DEFINE_float(
        "clip_norm",
        1.0,
        "Largest norm of the gradient of all weights together; a larger one "
        "is scaled down to it.",
        lower_bound=1e-6,
        upper_bound=1e6,
    )
    flags.DEFINE_float(
        "ema_decay",
        0.0,
        "Average the weights over the steps, each step keeping this share of "
        "the average, and evaluate, predict and export the averages; 0 for "
        "none.",
        lower_bound=0.0,
        upper_bound=_LARGEST_BETA,
    )
    flags.DEFINE_enum(
        "lr_schedule",
        "original",
        options.SCHEDULES,
        "original drops below its peak after the warmup, continuous does not; "
        "time falls to 0 at --max_hours, whatever the number of steps.",
    )
    flags.DEFINE_float(
        "max_hours",
        None,
        "End training, saved, after this time, that before a resume counted "
        "in; by default only --num_train_steps or --num_train_epochs end it.",
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
        "Multiplies the learning rate once for each block below the top.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_integer(
        "freeze_layers",
        0,
        "Leave the embeddings and this many of the lowest blocks as they are; "
        "0 trains everything.",
        lower_bound=0,
    )
