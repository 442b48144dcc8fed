"""The groups of flags that every training command has.

The training loop with the run's folder, the optimizer, and the teacher.
"""

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from options import fields
from options.fields import PathType

OptimizerName: TypeAlias = Literal["adamw", "lamb"]
ScheduleName: TypeAlias = Literal["original", "continuous"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Flags of the training loop, the run's folder and what is kept in it."""

    output_dir: str = fields.neutral_option(
        ...,
        "Folder for checkpoints, records and results.",
        path_type=PathType.RUN_FOLDER,
    )
    do_train: bool = fields.neutral_option(False, "Train on the train set.")
    do_eval: bool = fields.neutral_option(False, "Evaluate on the dev set.")
    train_batch_size: int = fields.training_option(
        32, "Number of examples in a training batch.", at_least=1
    )
    gradient_accumulation_steps: int = fields.training_option(
        1, "Number of batches to accumulate per weight update.", at_least=1
    )
    gradient_checkpointing: bool = fields.training_option(
        False,
        "Recompute activations in the backward pass. Training then needs less "
        "memory, but about a third more time.",
    )
    trim_padding: bool = fields.training_option(
        False,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack several short inputs into one row for attention. Ignored on a "
        "TPU and with --jit_compile. Results differ only by rounding errors, "
        "but for SQuAD, where Google's softmax includes padding positions.",
    )
    clip_norm: float = fields.training_option(
        1.0,
        "Maximum global norm of the gradient. Larger ones are scaled down.",
        at_least=1e-6,
    )
    max_hours: float | None = fields.training_option(
        None,
        "Save and stop after this many hours of training, including the hours "
        "before the run was resumed.",
        at_least=1e-9,
        may_grow=True,
    )
    freeze_layers: int = fields.training_option(
        0,
        "Freeze the embeddings and this number of the lowest blocks. 0 trains "
        "all weights.",
        at_least=0,
    )
    left_to_right: bool = fields.identity_option(
        False,
        "Let each WordPiece attend only to itself and earlier ones, as in the "
        "paper's ablation LTR. The last WordPiece is pooled instead of [CLS].",
    )
    seed: int = fields.training_option(
        12345,
        "Seed of initialization, dropout and data order.",
        at_least=0,
        at_most=2**32 - 1,
    )
    deterministic: bool = fields.training_option(
        False, "Use only operations whose results can be repeated exactly."
    )
    save_checkpoints_steps: int = fields.neutral_option(
        1000, "Number of steps between checkpoints.", at_least=1
    )
    keep_checkpoint_max: int = fields.neutral_option(
        5, "Number of newest checkpoints to keep. 0 keeps all.", at_least=0
    )
    iterations_per_loop: int = fields.neutral_option(
        1000, "On a TPU, number of training steps per host call.", at_least=1
    )
    keep_optimizer: bool = fields.neutral_option(
        True,
        "Save the optimizer's slots at the end too, to train on later. "
        "Without them, the last checkpoint is a third as large. With "
        "--data_file, the default is false.",
    )
    summary_steps: int = fields.neutral_option(
        100,
        "Number of steps between TensorBoard entries, or a tenth of a shorter "
        "training. 0 disables TensorBoard.",
        at_least=0,
    )
    export_weights: str | None = fields.neutral_option(
        None,
        "Write the weights without the optimizer's slots (a third of the size) "
        "to a folder laid out like Google's releases.",
        path_type=PathType.NEW_FOLDER,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """Flags of the optimizer and the learning rate schedule."""

    learning_rate: float = fields.training_option(
        5e-5, "Peak learning rate.", at_least=0
    )
    optimizer: OptimizerName = fields.training_option(
        "adamw",
        "adamw is the optimizer of Google's code. lamb is for batches of "
        "thousands of examples.",
        choices=get_args(OptimizerName),
    )
    # At 1, Adam's moments would never change.
    adam_beta_1: float = fields.training_option(
        0.9, "Decay rate of the first moment.", at_least=0, at_most=0.999999
    )
    adam_beta_2: float = fields.training_option(
        0.999, "Decay rate of the second moment.", at_least=0, at_most=0.999999
    )
    bias_correction: bool = fields.training_option(
        False,
        "Correct the bias of Adam's moments, unlike Google's code. This helps "
        "short runs at high learning rates. LAMB always corrects the bias.",
    )
    weight_decay: float = fields.training_option(
        0.01,
        "Decoupled weight decay. Not applied to LayerNorm and biases.",
        at_least=0,
    )
    lr_schedule: ScheduleName = fields.training_option(
        "original",
        "When the learning rate begins to decay: at step 0 (original, as in "
        "Google's code, so the rate drops right after the warmup), or after "
        "the warmup (continuous).",
        choices=get_args(ScheduleName),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationOptions:
    """Flags of a student that learns from a teacher or copies its blocks."""

    teacher: str | None = fields.training_option(
        None,
        "Folder of a larger model of the same task to learn from, such as a "
        "folder that --export_weights wrote.",
        path_type=PathType.MODEL,
    )
    distill_temperature: float = fields.training_option(
        2.0,
        "Temperature that divides the logits of teacher and student.",
        at_least=0.01,
    )
    distill_alpha: float = fields.training_option(
        0.5,
        "Weight alpha of the teacher's loss. The labels' loss is weighted by "
        "1 - alpha.",
        at_least=0,
        at_most=1,
    )
    distill_hidden: bool = fields.training_option(
        False, "Learn the output of the teacher's last block too."
    )
    init_layers: Sequence[str] | None = fields.training_option(
        None,
        "Blocks of --init_checkpoint, or else of --teacher, that initialize "
        "the model's blocks, such as 0,2,5 for a model of 3 blocks.",
    )

    @property
    def initial_blocks(self) -> list[int] | None:
        """Indices of the blocks in --init_layers, None without the flag."""
        if self.init_layers is None:
            return None
        return [int(layer) for layer in self.init_layers]
