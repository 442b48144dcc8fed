"""The flags of the training loop and of the run's folder."""

import dataclasses

from command_line import flags
from command_line.path_flags import PathKind


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingFlags:
    """Flags of the training loop, the run's folder and what is kept in it."""

    output_dir: str = flags.neutral_flag(
        ...,
        "Folder for checkpoints, records and results.",
        kind=PathKind.RUN_FOLDER,
    )
    do_train: bool = flags.neutral_flag(False, "Train on the train set.")
    do_eval: bool = flags.neutral_flag(False, "Evaluate on the dev set.")
    train_batch_size: int = flags.training_flag(
        32, "Number of examples in a training batch.", at_least=1
    )
    gradient_accumulation_steps: int = flags.training_flag(
        1, "Number of batches to accumulate per weight update.", at_least=1
    )
    gradient_checkpointing: bool = flags.training_flag(
        False,
        "Recompute activations in the backward pass. Training then needs less "
        "memory, but about a third more time.",
    )
    trim_padding: bool = flags.training_flag(
        False,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack several short inputs into one row for attention. Ignored on a "
        "TPU and with --jit_compile. Results differ only by rounding errors, "
        "but for SQuAD, where Google's softmax includes padding positions.",
    )
    clip_norm: float = flags.training_flag(
        1.0,
        "Maximum global norm of the gradient. Larger ones are scaled down.",
        at_least=1e-6,
    )
    max_hours: float | None = flags.training_flag(
        None,
        "Save and stop after this many hours of training, including the hours "
        "before the run was resumed.",
        at_least=1e-9,
        may_grow=True,
    )
    freeze_layers: int = flags.training_flag(
        0,
        "Freeze the embeddings and this number of the lowest blocks. 0 trains "
        "all weights.",
        at_least=0,
    )
    left_to_right: bool = flags.identity_flag(
        False,
        "Let each WordPiece attend only to itself and earlier ones, as in the "
        "paper's ablation LTR. The last WordPiece is pooled instead of [CLS].",
    )
    seed: int = flags.training_flag(
        12345,
        "Seed of initialization, dropout and data order.",
        at_least=0,
        at_most=2**32 - 1,
    )
    deterministic: bool = flags.training_flag(
        False, "Use only operations whose results can be repeated exactly."
    )
    save_checkpoints_steps: int = flags.neutral_flag(
        1000, "Number of steps between checkpoints.", at_least=1
    )
    keep_checkpoint_max: int = flags.neutral_flag(
        5, "Number of newest checkpoints to keep. 0 keeps all.", at_least=0
    )
    iterations_per_loop: int = flags.neutral_flag(
        1000, "On a TPU, number of training steps per host call.", at_least=1
    )
    keep_optimizer: bool = flags.neutral_flag(
        True,
        "Save the optimizer's slots at the end too, to train on later. "
        "Without them, the last checkpoint is a third as large. With "
        "--data_file, the default is false.",
    )
    summary_steps: int = flags.neutral_flag(
        100,
        "Number of steps between TensorBoard entries, or a tenth of a shorter "
        "training. 0 disables TensorBoard.",
        at_least=0,
    )
    export_weights: str | None = flags.neutral_flag(
        None,
        "Write the weights without the optimizer's slots (a third of the size) "
        "to a folder laid out like Google's releases.",
        kind=PathKind.NEW_FOLDER,
    )
