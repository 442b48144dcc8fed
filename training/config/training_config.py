"""Groups of flags of every training run, and the Config that contains them.

Each field defines a flag, its default and help. flag_completion.py completes
the flags with the values of the model's folder. This module imports no
TensorFlow.
"""

import dataclasses
from collections.abc import Sequence
from typing import (
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
)

from command_line import config_values, flags
from command_line.flags import group
from command_line.path_flags import PathKind
from execution.device_flags import DeviceFlags
from execution.model_flags import ModelFlags
from model_folders.reading import hub
from model_folders.reading.presets import NetworkOptions
from serving.exporting.export_flags import ExportFlags

OptimizerName: TypeAlias = Literal["adamw", "lamb"]
ScheduleName: TypeAlias = Literal["original", "continuous"]


class NumSteps(NamedTuple):
    """Numbers of steps of a run: those of the training, and of its warmup."""

    training: int
    warmup: int


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
    # Not a flag: the steps in a row without a finite loss that end a training.
    max_nonfinite_steps: int = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistillationFlags:
    """Flags of a student that learns from a teacher or copies its blocks."""

    teacher: str | None = flags.training_flag(
        None,
        "Folder of a larger model of the same task to learn from, such as a "
        "folder that --export_weights wrote.",
        kind=PathKind.MODEL,
    )
    distill_temperature: float = flags.training_flag(
        2.0,
        "Temperature that divides the logits of teacher and student.",
        at_least=0.01,
    )
    distill_alpha: float = flags.training_flag(
        0.5,
        "Weight alpha of the teacher's loss. The labels' loss is weighted by "
        "1 - alpha.",
        at_least=0,
        at_most=1,
    )
    distill_hidden: bool = flags.training_flag(
        False, "Learn the output of the teacher's last block too."
    )
    init_layers: Sequence[str] | None = flags.training_flag(
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainingConfig(flags.Config):
    """Base class of the flags of a training script.

    A property is a fact that follows from flags of several groups.
    """

    model: ModelFlags = group(ModelFlags)
    devices: DeviceFlags = group(DeviceFlags)
    export: ExportFlags = group(ExportFlags)
    optimizer: OptimizerFlags = group(OptimizerFlags)
    training: TrainingFlags = group(TrainingFlags)
    distillation: DistillationFlags = group(DistillationFlags)

    # A command must set at least one of these flags.
    actions: ClassVar[tuple[str, ...]] = (
        "do_train",
        "do_eval",
        "export_dir",
        "export_weights",
    )

    @property
    def model_class(self) -> str | None:
        """Name of the model's class, maybe a user's own. None = any class."""
        return None

    @property
    def required_flags(self) -> tuple[str, ...]:
        """Flags that must be set unless the model's folder states them."""
        return ("bert_config_file", "vocab_file")

    @property
    def max_seq_length(self) -> int | None:
        """Input length in WordPieces, None if no flag states it."""
        return None

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the run's files."""
        return self.devices.is_chief

    def prepare(self, set_by_user: frozenset[str]) -> Self:
        """Returns the flags, as `complete` returns them, and checks the export.

        Raises:
            ValueError: flags contradict each other.
        """
        completed = self.complete(set_by_user)
        completed.export.check()
        return completed

    def complete(self, set_by_user: frozenset[str]) -> Self:
        """Returns the flags, with defaults for the kind of data that they name.

        The values of flags that the user set are not changed.
        """
        return self

    def download(self) -> Self:
        """Returns the flags with local folders for models of the hub."""
        return config_values.convert_paths(
            self, hub.to_local_folder, "init_checkpoint", "teacher"
        )

    def check(self, set_by_user: frozenset[str]) -> None:
        """Checks that flags do not contradict each other.

        Args:
            set_by_user: names of the flags that the user set.

        Raises:
            ValueError: two flags contradict each other, or the flags request
                nothing.
        """
        values = config_values.flag_values_of(self)
        if not any(values[action] for action in self.actions):
            names = " or ".join(f"--{action}" for action in self.actions)
            raise ValueError(f"nothing to do: set {names}")
        has_lstm = self.export.export_dir and self.network["bilstm"]
        if has_lstm and "litert" in self.export.export_formats:
            raise ValueError(
                f"--export_format={self.export.export_format}: LiteRT cannot "
                "run the LSTM of --bilstm; choose onnx or saved_model"
            )
        for name in ("distill_temperature", "distill_alpha", "distill_hidden"):
            if name in set_by_user and not self.distillation.teacher:
                raise ValueError(f"--{name} needs --teacher")
        copies_blocks = self.distillation.init_layers is not None
        if copies_blocks and not self.initial_checkpoint:
            raise ValueError(
                "--init_layers needs --init_checkpoint or --teacher"
            )

    @property
    def keeps_best(self) -> bool:
        """Whether training runs evaluations and saves the best step."""
        return False

    @property
    def loads_best(self) -> bool:
        """Whether results and exports are those of the best step, if any."""
        return True

    @property
    def initial_checkpoint(self) -> str | None:
        """The checkpoint that a new run starts from. None: random weights."""
        if self.model.init_checkpoint:
            return self.model.init_checkpoint
        if self.distillation.init_layers is not None:
            return self.distillation.teacher
        return None

    @property
    def network(self) -> NetworkOptions:
        """{flag: value} of the flags in `presets.NETWORK_OPTIONS`.

        These flags are also arguments of the model's constructor.
        """
        return {"left_to_right": self.training.left_to_right, "bilstm": False}

    @property
    def batch_size(self) -> int:
        """Number of examples in each weight update, over all devices."""
        training = self.training
        return training.train_batch_size * training.gradient_accumulation_steps

    @property
    def trims_padding(self) -> bool:
        """Whether --trim_padding is set and the devices allow any shape."""
        has_fixed_shapes = self.devices.is_tpu or self.devices.jit_compile
        return self.training.trim_padding and not has_fixed_shapes

    @property
    def steps_per_call(self) -> int:
        """Number of steps that one call of the training function runs."""
        return self.training.iterations_per_loop if self.devices.is_tpu else 1


TrainingConfigT = TypeVar("TrainingConfigT", bound=TrainingConfig)
