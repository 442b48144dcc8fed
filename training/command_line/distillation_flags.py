"""Flags of distillation."""

from absl import flags

from files import paths
from training.command_line import cli


def define() -> None:
    """Defines the teacher and how the student learns from it."""
    cli.define_path(
        "teacher",
        paths.Kind.MODEL,
        "Folder of a larger model of the same task to learn from: a "
        "checkpoint of either format and its configuration, as "
        "--export_weights writes.",
    )
    flags.DEFINE_float(
        "distill_temperature",
        2.0,
        "Divides the logits of teacher and student; higher values reveal more "
        "about the other classes.",
        lower_bound=0.01,
    )
    flags.DEFINE_float(
        "distill_alpha",
        0.5,
        "Weight of the teacher in the loss; the labels have the rest.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_bool(
        "distill_layers",
        False,
        "Learn the teacher's hidden states and attention too (TinyBERT); the "
        "teacher then runs in every step.",
    )
    flags.DEFINE_list(
        "init_layers",
        None,
        "Block of --init_checkpoint, or else of --teacher, that each block of "
        "the model starts from: 0,2,5 for 3 blocks of 6.",
    )
