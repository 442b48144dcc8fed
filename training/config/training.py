"""Flags of all training scripts: optimizer, distillation, steps and logs."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from files import flags
from files.paths import Kind
from training import model_folder
from training.config.model import ModelConfig
from training.run_folder import RunFolder, checkpoint_steps

# Largest decay rate of Adam's moments. At 1.0, they would never change.
_LARGEST_BETA = 0.999999


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """Flags of the optimizer and the learning rate schedule."""

    learning_rate: float = flags.training(
        5e-5, "Peak learning rate.", at_least=0
    )
    optimizer: str = flags.training(
        "adamw",
        "adamw is the optimizer of Google's code. lamb is for batches of "
        "thousands of examples.",
        choices=("adamw", "lamb"),
    )
    adam_beta_1: float = flags.training(
        0.9,
        "Decay rate of the first moment.",
        at_least=0.0,
        at_most=_LARGEST_BETA,
    )
    adam_beta_2: float = flags.training(
        0.999,
        "Decay rate of the second moment.",
        at_least=0.0,
        at_most=_LARGEST_BETA,
    )
    bias_correction: bool = flags.training(
        False,
        "Correct the bias of Adam's moments, which Google's code does not "
        "correct. LAMB always corrects the bias. The correction helps short "
        "runs at high learning rates.",
    )
    weight_decay: float = flags.training(
        0.01,
        "Decoupled weight decay. Not applied to LayerNorm and biases.",
        at_least=0.0,
        at_most=1000.0,
    )
    lr_schedule: str = flags.training(
        "original",
        "Schedule of the learning rate. With original, as in Google's code, "
        "the decay begins at step 0, so the rate drops below its peak right "
        "after the warmup. With continuous, the decay begins after the warmup.",
        choices=("original", "continuous"),
    )
    poly_power: float = flags.training(
        1.0, "Exponent of the learning rate's decay. 1 is linear.", at_least=0
    )
    layerwise_lr_decay: float = flags.training(
        1.0,
        "Multiply each block's learning rate by this factor to get the rate "
        "of the block below it.",
        at_least=0.0,
        at_most=1.0,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationConfig:
    """Flags of distillation: the teacher, and the loss of the student."""

    teacher: str | None = flags.training(
        None,
        "Folder of a larger model of the same task to learn from. It contains "
        "a checkpoint (TF1 or Hugging Face) and its configuration, such as a "
        "folder that --export_weights wrote.",
        kind=Kind.MODEL,
    )
    distill_temperature: float = flags.training(
        2.0,
        "Temperature that divides the logits of teacher and student. Higher "
        "values reveal more about the less probable classes.",
        at_least=0.01,
    )
    distill_alpha: float = flags.training(
        0.5,
        "Weight alpha of the teacher's loss. The labels' loss is weighted by "
        "1 - alpha.",
        at_least=0.0,
        at_most=1.0,
    )
    distill_hidden: bool = flags.training(
        False, "Learn the output of the teacher's last block too."
    )
    init_layers: Sequence[str] | None = flags.training(
        None,
        "Blocks whose weights initialize the model's blocks, such as 0,2,5 for "
        "a model of 3 blocks. These are indices, from 0, of the blocks of "
        "--init_checkpoint or, if that flag is not set, of --teacher.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig(ModelConfig, OptimizerConfig, DistillationConfig):
    """Flags of every training run.

    `given_flags` contains {name: value} of the flags on the command line, and
    `all_flags` contains {name: value} of all the script's flags.
    """

    output_dir: str = flags.neutral(
        ...,
        "Folder for checkpoints, records and results.",
        kind=Kind.RUN_FOLDER,
    )
    do_train: bool = flags.neutral(False, "Train on the train set.")
    do_eval: bool = flags.neutral(False, "Evaluate on the dev set.")
    train_batch_size: int = flags.training(
        32, "Number of examples in a training batch.", at_least=1
    )
    gradient_accumulation_steps: int = flags.training(
        1,
        "Number of batches to accumulate per weight update.",
        at_least=1,
        at_most=2**31 - 1,
    )
    gradient_checkpointing: bool = flags.training(
        False,
        "Recompute activations in the backward pass. Training then needs less "
        "memory, but about a third more time.",
    )
    trim_padding: bool = flags.training(
        False,
        "Skip padding: cut batches to their longest input and, in training, "
        "pack several short inputs into one row for attention. Ignored on a "
        "TPU and with --jit_compile. Results differ only by rounding errors, "
        "except for SQuAD: Google's code includes padding positions in the "
        "softmax over answer positions, so removing padding changes SQuAD's "
        "results more.",
    )
    clip_norm: float = flags.training(
        1.0,
        "Maximum global norm of the gradient. Larger gradients are scaled "
        "down to this norm.",
        at_least=1e-6,
        at_most=1e6,
    )
    max_hours: float | None = flags.training(
        None,
        "Save and stop after this many hours of training, including the hours "
        "before the run was resumed. By default, only --num_train_steps or "
        "--num_train_epochs end training.",
        at_least=1e-9,
        at_most=1e6,
        may_grow=True,
    )
    freeze_layers: int = flags.training(
        0,
        "Freeze the embeddings and this number of the lowest blocks. 0 trains "
        "all weights.",
        at_least=0,
    )
    left_to_right: bool = flags.identity(
        False,
        "Let each WordPiece attend only to itself and earlier WordPieces, as "
        "in the paper's ablation LTR. The pooled output is computed from the "
        "last WordPiece instead of [CLS].",
    )
    seed: int = flags.training(
        12345,
        "Seed of initialization, dropout and data order.",
        at_least=0,
        at_most=2**32 - 1,
    )
    deterministic: bool = flags.training(
        False, "Use only operations whose results can be repeated exactly."
    )
    init_from: str | None = flags.neutral(
        None,
        "Start a new run from random weights (scratch) or from "
        "--init_checkpoint (checkpoint). By default, --init_checkpoint is used "
        "if it is set. Checkpoints in --output_dir take precedence.",
        choices=("scratch", "checkpoint"),
    )
    max_nonfinite_steps: int = flags.neutral(
        10,
        "Stop after this many consecutive steps with a non-finite loss or "
        "gradient. Such steps do not change the weights.",
        at_least=1,
    )
    save_checkpoints_steps: int = flags.neutral(
        1000, "Number of steps between checkpoints.", at_least=1
    )
    keep_checkpoint_max: int = flags.neutral(
        5, "Number of newest checkpoints to keep. 0 keeps all.", at_least=0
    )
    iterations_per_loop: int = flags.neutral(
        1000, "On a TPU, number of training steps per host call.", at_least=1
    )
    summary_steps: int = flags.neutral(
        100,
        "Number of steps between TensorBoard entries. 0 disables TensorBoard.",
        at_least=0,
    )
    export_weights: str | None = flags.neutral(
        None,
        "Write the weights without the optimizer's slots (a third of the size) "
        "to a folder laid out like Google's releases.",
        kind=Kind.NEW_FOLDER,
    )
    all_flags: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, repr=False
    )

    # A command must set at least one of these flags.
    actions: ClassVar[tuple[str, ...]] = (
        "do_train",
        "do_eval",
        "export_dir",
        "export_weights",
    )

    def __post_init__(self) -> None:
        """Checks the flags against each other and the run in --output_dir."""
        super().__post_init__()
        if self.do_train:
            self.open_run().check(self, {}, are_all=False)
        if self.init_from is not None and bool(self.init_checkpoint) != (
            self.init_from == "checkpoint"
        ):
            raise ValueError(
                f"--init_from={self.init_from} contradicts --init_checkpoint="
                f"{self.init_checkpoint}. Change one of the two flags"
            )
        for name in ("distill_temperature", "distill_alpha", "distill_hidden"):
            if name in self.given_flags and not self.teacher:
                raise ValueError(f"--{name} needs --teacher")
        if self.teacher and not (self.distill_alpha or self.distill_hidden):
            raise ValueError(
                "--distill_alpha=0 ignores --teacher; set --distill_alpha "
                "above 0, or set --distill_hidden"
            )
        if self.init_layers is not None and not self.initial_checkpoint:
            raise ValueError(
                "--init_layers needs --init_checkpoint or --teacher"
            )

    @property
    def weights(self) -> str | None:
        """`output_dir` if a checkpoint is in it, else `initial_checkpoint`."""
        if self.has_checkpoint:
            return self.output_dir
        return self.initial_checkpoint

    @property
    def has_checkpoint(self) -> bool:
        """Whether `output_dir` contains a checkpoint to resume from."""
        return bool(checkpoint_steps(self.output_dir))

    @property
    def prefers_best(self) -> bool:
        """Whether to restore the weights of the best step, if they exist."""
        return False

    def open_run(self) -> RunFolder:
        """Opens --output_dir. A RunFolder caches the files that it reads."""
        return RunFolder(self.output_dir)

    @property
    def keeps_best(self) -> bool:
        """Whether training runs evaluations and saves the best step."""
        return False

    @property
    def initial_checkpoint(self) -> str | None:
        """The checkpoint that a new run starts from.

        None if the run starts from random weights.
        """
        return self.init_checkpoint or (
            self.teacher if self.init_layers is not None else None
        )

    @property
    def initial_layers(self) -> list[int] | None:
        """Indices of the blocks in --init_layers, or None without the flag."""
        if self.init_layers is None:
            return None
        return [int(layer) for layer in self.init_layers]

    @property
    def network(self) -> dict[str, bool]:
        """{flag: value} of the flags in `model_folder.NETWORK`.

        These flags are also arguments of the model's constructor.
        """
        return {
            name: getattr(self, name, False) for name in model_folder.NETWORK
        }

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """{flag: value} for TensorBoard's HPARAMS page, which compares runs."""
        choices = ("init_checkpoint", "lr_schedule", "optimizer", "task_name")
        return {
            name: value
            for name, value in self.all_flags.items()
            if isinstance(value, (bool, int, float))
            or (name in choices and value is not None)
        }

    @property
    def batch_size(self) -> int:
        """Number of examples in each weight update, over all devices."""
        return self.train_batch_size * self.gradient_accumulation_steps

    @property
    def unpads(self) -> bool:
        """Whether --trim_padding is set and the devices allow it."""
        return self.trim_padding and not self.has_fixed_shapes

    @property
    def steps_per_call(self) -> int:
        """Number of steps that one call of the training function runs."""
        return self.iterations_per_loop if self.is_tpu else 1
